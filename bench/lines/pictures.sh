#!/bin/sh
# A work-precision picture for each line, in docs/pictures, from what bench_lines --csv wrote:
#     bench/lines/pictures.sh [bench/results/lines.csv ..]
set -eu
cd "$(dirname "$0")/../.."
. bench/svg.sh
[ $# -gt 0 ] || set -- bench/results/lines.csv
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

# Ours in red and thick, each other code in the same colour everywhere
style() {
    case $1 in
        native) echo "lw 2.5 pt 7 ps 0.5 lc rgb '#c0392b'" ;;
        tape) echo "lw 1.5 pt 6 ps 0.5 lc rgb '#e67e22'" ;;
        first) echo "lw 1.5 dt 2 pt 4 ps 0.4 lc rgb '#c0392b'" ;;
        callbacks) echo "lw 2.5 pt 5 ps 0.5 lc rgb '#6c3483'" ;;
        RADAU5 | RADAU5-2) echo "lw 1.2 pt 9 ps 0.5 lc rgb '#1f618d'" ;;
        RADAU | RADAU-2) echo "lw 1.2 pt 11 ps 0.5 lc rgb '#2e86c1'" ;;
        RODAS) echo "lw 1.2 pt 13 ps 0.5 lc rgb '#117a65'" ;;
        SEULEX) echo "lw 1.2 pt 8 ps 0.5 lc rgb '#7d8b2c'" ;;
        HEM5) echo "lw 1.2 pt 10 ps 0.5 lc rgb '#b9770e'" ;;
        IDA) echo "lw 1.2 pt 1 ps 0.5 lc rgb '#566573'" ;;
        *) echo "lw 1.2 pt 2 ps 0.5 lc rgb '#99a3a4'" ;;
    esac
}

for line in $(awk -F, '$1 != "problem" { print $1 }' "$@" | sort -u); do
    list=
    for code in native tape first callbacks RADAU5 RADAU RODAS SEULEX HEM5 RADAU5-2 RADAU-2 IDA DASSL; do
        awk -F, -v p="$line" -v c="$code" '$1 == p && $2 == c && $7 == "ok" && $4 > 1 && $4 < 13 { print $4, 1000*$6 }' "$@" > "$data/$code"
        [ ! -s "$data/$code" ] || list="$list${list:+, }'$data/$code' with linespoints $(style "$code") title '$code'"
    done
    picture="docs/pictures/lines-$(echo "$line" | tr ':' '-').svg"
    gnuplot <<PLOT
set terminal svg size 640,400 font 'sans,12' background 'white'
set output '$picture'
set grid back linecolor rgb '#e0e0e0'; set key outside right; set tics nomirror; set border 3
set logscale y; set format y '%g'; set title '$line'
set xlabel 'correct digits'; set ylabel 'milliseconds of processor time'; set xrange [2:12]
plot $list
PLOT
    shrink_svg "$picture"
done
