# Write OUT, a C file with the array NAME of texts: one for each of FILES, NULL at the end.
#   cmake -D OUT=texts.c -D NAME=texts -D FILES="a.mo;b.mo" -P EmbedTexts.cmake
set(code "/* Made of the texts beside it. */\n#include <stddef.h>\n\n")
set(list "")
set(number 0)
foreach(file IN LISTS FILES)
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "0a0a${bytes}")
    string(APPEND code "static const char text_${number}[] = {${bytes}0x00};\n")
    string(APPEND list "text_${number}, ")
    math(EXPR number "${number} + 1")
endforeach()
string(APPEND code "\nextern const char *const ${NAME}[];\nconst char *const ${NAME}[] = {${list}NULL};\n")
file(WRITE ${OUT} "${code}")
