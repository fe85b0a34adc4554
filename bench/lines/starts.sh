#!/bin/sh
# Instructions of the first and the second solver of a problem, in thousands, by callgrind:
#     bench/lines/starts.sh [BUILD [MODEL ..]]
# BUILD is the directory of the build, build/bench; a MODEL is a name in models/. With CSV=FILE the table goes there, too.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build/bench}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- akzo transamp pendulum andrews caraxis
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
[ -z "${CSV:-}" ] || echo "model,translation,first_start,first_run,second_start,second_run" > "$CSV"
echo "| model | translation | first start | first run | second start | second run |"
echo "|---|---:|---:|---:|---:|---:|"
for model in "$@"; do
    valgrind --tool=callgrind --callgrind-out-file="$data/out" "$build/bench/lines/bench_starts" "models/$model.mo" > /dev/null 2> "$data/log" ||
        { cat "$data/log" >&2; exit 1; }
    callgrind_annotate --inclusive=yes --threshold=100 "$data/out" > "$data/list"
    row=
    for part in translation first_start first_run second_start second_run; do
        count=$(awk -v name="count_$part" 'index($0, ":" name) { gsub(",", "", $1); print $1; exit }' "$data/list")
        row="$row,$((${count:-0} / 1000))"
    done
    echo "| $model$(echo "$row" | sed 's/,/ | /g') |"
    [ -z "${CSV:-}" ] || echo "$model$row" >> "$CSV"
done
