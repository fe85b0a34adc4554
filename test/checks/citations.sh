#!/bin/sh
# scripts/check-citations passes on citations that docs/references.bib has, and fails on one that it does
# not have: in a source, as the second of two, in a comment or a description of a model text.
#   citations.sh <root of the project>
set -eu
check="$1/scripts/check-citations"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}
refused() {
    ! "$check" "$work" >"$work/out" || fail "$1 passes"
    grep -q "^\[Zyx99\] is cited but not" "$work/out" || fail "$1 is not named"
    grep -q ":1:" "$work/out" || fail "the place of $1 is not named"
    rm "$work"/src/bad.*
}

mkdir -p "$work/src" "$work/include" "$work/models" "$work/docs" "$work/report" "$work/cli"
printf '@book{Abc96,\n}\n@book{Def97,\n}\n' >"$work/docs/references.bib"
echo '/* [Abc96 5.2], [Abc96, Def97] */' >"$work/src/a.c"
printf '// [Def97]\nReal y = x[Zyx99] + [Zyx99, 1];\n' >"$work/src/a.mo"
"$check" "$work" || fail "a sound source is refused"

echo '/* [Zyx99 (3)] */' >"$work/src/bad.h"
refused "a citation of a source"
echo '/* [Abc96, Zyx99] */' >"$work/src/bad.h"
refused "the second citation"
echo '  Real y; // after [Zyx99]' >"$work/src/bad.mo"
refused "a citation in a comment of a model text"
echo 'Real y "by [Zyx99 2.1]";' >"$work/src/bad.mo"
refused "a citation in a description"
