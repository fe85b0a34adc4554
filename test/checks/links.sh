#!/bin/sh
# scripts/check-links passes on pages whose links lead somewhere, and fails on a link to no file, on a link
# to no heading, on a page that names a source that is not there, and on a source that names such a page.
#   links.sh <root of the project>
set -eu
check="$1/scripts/check-links"
work=$(mktemp -d)
folder=docs # not spelt out below, since the check reads this file, too
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $*"
    exit 1
}
refused() {
    ! "$check" "$work" >"$work/out" || fail "$1 passes"
    grep -qx "$2" "$work/out" || fail "$1 is not named"
}

mkdir -p "$work/$folder" "$work/src"
printf '# Page\n\n## What to do: `first`\n' >"$work/$folder/page.md"
printf '[a](%s/page.md#what-to-do-first) [b](https://example.org) [c](#top)\n\n# Top\n```\n[d](nowhere)\n```\n' $folder >"$work/README.md"
echo "/* $folder/page.md says why. */" >"$work/src/a.c"
"$check" "$work" || fail "a sound page is refused"

echo "[a]($folder/pages.md)" >"$work/bad.md"
refused "a link to no file" "bad.md: $folder/pages.md leads to no file"
echo "[a]($folder/page.md#last)" >"$work/bad.md"
refused "a link to no heading" "bad.md: $folder/page.md#last leads to no heading"
echo 'In `src/a*.c`, and in `src/gone.c`.' >"$work/bad.md"
refused "a source that is not there" "bad.md: src/gone.c is not there"
rm "$work/bad.md"
echo "/* $folder/gone.md says why. */" >"$work/src/b.c"
refused "a page that is not there" "src/b.c: $folder/gone.md is not there"
