/* Looking up a class in the texts. Each class begins and ends at the first column. */
#include "modelica/library/library.h"

#include <stdio.h>
#include <string.h>

extern const char
    *const library_texts[]; /* made of *.mo by cmake/EmbedTexts.cmake; NULL at the end */

const char *library_text(size_t k)
{
    return library_texts[k];
}

enum { LONGEST_NAME = 512 };

/* "<kind> 'name'" at the beginning of a line of the text */
static const char *find_head(const char *text, const char *kind, const char *name)
{
    char head[LONGEST_NAME + 32];
    snprintf(head, sizeof head, "\n%s '%s'", kind, name);
    const char *at = strstr(text, head);
    return at ? at + 1 : NULL;
}

/* The class of that name without quotes, with its end. */
static const char *find_class_text(const char *name, size_t *length)
{
    static const char *const kinds[] = {"function", "record", "type"};
    char tail[LONGEST_NAME + 32];
    snprintf(tail, sizeof tail, "\nend '%s';", name);
    for (size_t k = 0; library_texts[k]; k++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            const char *begin = find_head(library_texts[k], kinds[i], name);
            const char *end = begin ? strstr(begin, tail) : NULL;
            if (!end) continue;
            *length = (size_t)(end - begin) + strlen(tail);
            return begin;
        }
    return NULL;
}

const char *library_find(const char *name, size_t *length)
{
    char plain[LONGEST_NAME], any[LONGEST_NAME + 2];
    size_t size = name ? strlen(name) : 0;
    if (size < 3 || size >= LONGEST_NAME || name[0] != '\'') return NULL;
    memcpy(plain, name + 1, size - 2);
    plain[size - 2] = '\0';
    const char *found = find_class_text(plain, length);
    for (const char *dot = strchr(plain, '.'); dot && !found; dot = strchr(dot + 1, '.')) {
        snprintf(any, sizeof any, "*%s", dot);
        found = find_class_text(any, length);
    }
    return found;
}

const char *library_beside(const char *text, size_t *length)
{
    static const char mark[] = "// beside '*";
    const char *line = text - 1; /* the end of the line before; texts begin with an empty one */
    while (line[-1] != '\n') line--;
    if (strncmp(line, mark, sizeof mark - 1) != 0) return NULL;
    line += sizeof mark - 1;
    *length = strcspn(line, "'");
    return line;
}
