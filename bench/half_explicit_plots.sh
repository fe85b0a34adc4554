#!/bin/sh
# Work-precision plots of the half-explicit methods and their peers into docs/pictures.
#   bench/half_explicit_plots.sh path/to/bench_half_explicit [problem ..]
set -eu
program=${1:?usage: half_explicit_plots.sh path/to/bench_half_explicit [problem ..]}
shift
[ $# -gt 0 ] || set -- pendulum andrews
. "$(dirname "$0")/svg.sh"
target=$(cd "$(dirname "$0")/../docs/pictures" && pwd)
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
"$program" -p "$data" "$@"
for problem in "$@"; do
    curves=
    for code in prk phem hem:5 HEM5 RADAU5 RADAU SEULEX IDA; do
        [ -s "$data/$problem-$code.dat" ] || continue
        curves="$curves${curves:+, }'$data/$problem-$code.dat' using 1:2 with linespoints title '$code'"
    done
    gnuplot <<PLOT
set terminal svg size 720,480 font 'sans,13' background 'white'
set output '$target/half-explicit-$problem.svg'
set logscale y
set format y '10^{%T}'
set xlabel 'correct digits of q'
set ylabel 'seconds'
set key outside right
set grid
plot $curves
PLOT
    shrink_svg "$target/half-explicit-$problem.svg"
done
