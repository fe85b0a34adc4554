#!/bin/sh
# scripts/check-includes passes on the sources, and fails on an include against the arrows, on a folder
# that is no room, and on arrows in a circle.
#   includes.sh <root of the project>
set -eu
check="$1/scripts/check-includes"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}

mkdir -p "$work/low" "$work/high/inner"
printf '# two rooms\nlow:\nhigh: low\n' >"$work/rooms.txt"
echo '#include "low/a.h"' >"$work/high/inner/b.c"
echo '#include <math.h>' >"$work/low/a.h"
"$check" "$work" || fail "an include along the arrows is refused"

echo '#include "high/inner/b.h"' >"$work/low/c.c"
! "$check" "$work" >"$work/out" || fail "an include against the arrows passes"
grep -q '^low/c.c: low may not include high/inner/b.h$' "$work/out" || fail "the include is not named"
rm "$work/low/c.c"

mkdir "$work/shed"
echo '#include "low/a.h"' >"$work/shed/d.c"
! "$check" "$work" >"$work/out" || fail "a folder that is no room passes"
grep -q '^shed/d.c: ' "$work/out" || fail "the folder is not named"
rm -r "$work/shed"

printf 'low: high\nhigh: low\n' >"$work/rooms.txt"
! "$check" "$work" >"$work/out" || fail "arrows in a circle pass"
grep -q 'low -> high -> low goes in a circle' "$work/out" || fail "the circle is not named"
