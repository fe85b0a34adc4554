#!/bin/sh
# The table of docs/notes/choice.md, measured anew: everything below its mark is replaced.
#     bench/choice.sh [build directory]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
page="$root/docs/notes/choice.md"
mark='<!-- measured: bench/choice.sh -->'
new=$(mktemp)
sed "/^$mark\$/q" "$page" > "$new"
{ echo; "${1:-$root/build}/bench/bench_choice" "$root/models"; } >> "$new"
cat "$new" > "$page"
rm -f "$new"
