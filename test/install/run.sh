#!/bin/sh
# Install into an empty directory and use what is there as a stranger would: the examples built with
# pkg-config and with CMake, shared and static; the symbols; the header in C++; the manual.
#   run.sh <source directory> <build directory>
set -eu
source=$1
build=$2

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
prefix=$stage/opt/daedal
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

echo "== install with DESTDIR"
DESTDIR=$stage cmake --install "$build" --prefix /opt/daedal >"$stage/install.log" ||
    { cat "$stage/install.log"; fail "cmake --install"; }
libdir=$(dirname "$(find "$prefix" -name libdaedal.so)")
for file in include/daedal.h share/man/man3/daedal.3 share/doc/daedal/LICENSE \
    share/doc/daedal/README.md; do
    [ -f "$prefix/$file" ] || fail "$file is not installed"
done
[ -L "$libdir/libdaedal.so.0.2" ] || fail "libdaedal.so.0.2 is not installed"
objdump -p "$libdir/libdaedal.so" | grep -q 'SONAME *libdaedal\.so\.0\.2$' || fail "wrong SONAME"
if grep -rlF "$stage" "$prefix" || grep -rlF -e "$build" -e "$source/include" "$libdir/pkgconfig" "$libdir/cmake"; then
    fail "these files know where they were built"
fi

echo "== symbols"
# sorted names of the functions that daedal.h promises, and of those that are there
cat "$prefix/include/daedal.h" "$prefix"/include/daedal/*.h | sed -e 's:/\*.*\*/::g' | tr '\n' ' ' |
    grep -oE 'DAE_API [^;(]*\(' | grep -oE 'dae_[a-z_0-9]+\($' | tr -d '(' | sort >"$stage/promised"
nm -D --defined-only "$libdir/libdaedal.so" | awk '{print $3}' | sort >"$stage/shared"
nm -g --defined-only "$libdir/libdaedal.a" | awk 'NF == 3 {print $3}' | sort >"$stage/static"
[ -s "$stage/promised" ] || fail "no function found in daedal.h"
diff "$stage/promised" "$stage/shared" || fail "daedal.h (<) and libdaedal.so (>) differ"
diff "$stage/promised" "$stage/static" || fail "daedal.h (<) and libdaedal.a (>) differ"

echo "== header in C++ and in strict C"
echo '#include <daedal.h>' >"$stage/header.cpp"
echo 'int main(void) { dae_options o = dae_options_default(); return o.size == 0; }' >>"$stage/header.cpp"
cp "$stage/header.cpp" "$stage/header.c"
flags="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I$prefix/include -fsyntax-only"
c++ -std=c++11 $flags "$stage/header.cpp" || fail "daedal.h in C++"
cc -std=c11 $flags "$stage/header.c" || fail "daedal.h in C"

echo "== the face of the header: its example, and what a first program needs, in 300 lines"
sed -n '/^ \*     #include <daedal.h>/,/^ \*     }$/{s/^ \* \{0,5\}//;p}' "$prefix/include/daedal.h" >"$stage/example.c"
sed -n '/^ \*     int main(void)/,/^ \* Conv/{s/^ \* \{0,5\}//;/^Conv/d;p}' "$prefix/include/daedal.h" >>"$stage/example.c"
cc -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I"$prefix/include" "$stage/example.c" \
    -L"$libdir" -ldaedal -o "$stage/example" || fail "the example of daedal.h does not compile"
[ "$(LD_LIBRARY_PATH=$libdir "$stage/example")" = 'y(1) = 0.500000, 0.250000' ] || fail "the example of daedal.h"
c++ -std=c++20 -x c++ -Wall -Wpedantic -Werror -I"$prefix/include" -fsyntax-only "$stage/example.c" ||
    fail "the example of daedal.h is not C++"
for name in dae_status dae_diag dae_residual dae_options; do
    head -300 "$prefix/include/daedal.h" | grep -q "^} $name;" || fail "$name is not in the first 300 lines"
done
for name in problem_from_residual options_default solver_new solver_start solver_step solver_run solver_at solver_free; do
    head -300 "$prefix/include/daedal.h" | grep -qE "^(DAE_API|static inline) .*dae_$name\(" ||
        fail "dae_$name is not in the first 300 lines"
done

# check <program> <example>: do its numbers agree with independent ones? The example of models reads one.
check() {
    LD_LIBRARY_PATH=$runtime_path "$1" "$source/models/pendulum.mo" >"$stage/out" || fail "$1 exits with $?"
    "$source/test/install/check-$2" "$stage/out" || { cat "$stage/out"; fail "$1: wrong output"; }
}

export PKG_CONFIG_PATH="$libdir/pkgconfig"
runtime_path=$libdir
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
[ "$(pkg-config --modversion daedal)" = "$version" ] || fail "version in daedal.pc"
for example in robertson sparse events model input violin sensitivity fit; do
    echo "== $example with pkg-config"
    program=$stage/$example
    cc -std=c11 -O1 "$source/examples/$example.c" -o "$program" \
        $(pkg-config --cflags --libs daedal) -lm || fail "$example: pkg-config, shared"
    check "$program" $example
    mkdir -p "$stage/only-static"
    cp "$libdir/libdaedal.a" "$stage/only-static"
    cc -std=c11 -O1 "$source/examples/$example.c" -o "$program-static" -L"$stage/only-static" \
        $(pkg-config --static --cflags --libs daedal | sed "s:-L[^ ]*$prefix[^ ]*::") ||
        fail "$example: pkg-config, static"
    check "$program-static" $example
done

echo "== programs in the readme and in the manual"
sed -n '/^```c$/,/^```$/p' "$source/README.md" | grep -v '^```' >"$stage/readme.c"
sed -n '/^\.SH EXAMPLE/,/^\.SH SEE/p' "$prefix/share/man/man3/daedal.3" |
    sed -e '/^\./d' -e 's/\\-/-/g' -e 's/\\e/\\/g' >"$stage/manual.c"
for program in readme manual; do
    cc -std=c11 "$stage/$program.c" -o "$stage/$program" $(pkg-config --cflags --libs daedal) ||
        fail "the program in the $program"
    check "$stage/$program" decay
    c++ -std=c++20 -x c++ -Wall -Wpedantic -Werror "$stage/$program.c" -o "$stage/$program-c++" \
        $(pkg-config --cflags --libs daedal) || fail "the program in the $program as C++"
    check "$stage/$program-c++" decay
done

echo "== a program without shared libraries"
if echo 'int main(void) { return 0; }' | cc -x c - -static -o "$stage/nothing" -llapack -lgfortran -lm 2>"$stage/log"; then
    cc -std=c11 -static "$stage/readme.c" -o "$stage/readme-static" \
        $(pkg-config --static --cflags --libs daedal) 2>"$stage/log" || { cat "$stage/log"; fail "cc -static"; }
    check "$stage/readme-static" decay
else
    echo "skipped: the static libraries of LAPACK or Fortran are not here"
fi

echo "== examples with CMake"
runtime_path= # CMake leaves the path in the program
cmake -S "$source/examples" -B "$stage/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$stage/log" 2>&1 &&
    cmake --build "$stage/cmake" >>"$stage/log" 2>&1 || { cat "$stage/log"; fail "CMake package"; }
for example in robertson sparse events model input violin sensitivity fit; do
    check "$stage/cmake/$example" $example
    check "$stage/cmake/${example}_static" $example
done

if [ -x "$prefix/bin/daedal" ]; then
    echo "== command"
    "$prefix/bin/daedal" --version || fail "daedal --version"
fi
echo "installed library: all checks passed"
