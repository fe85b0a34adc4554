#!/bin/sh
# Figures 2.1, 2.2 and 2.3 of [HW96 VII.2] into docs/pictures.
#   bench/manifold_plots.sh path/to/bench_manifold_figures
set -eu
program=${1:?usage: manifold_plots.sh path/to/bench_manifold_figures}
. "$(dirname "$0")/svg.sh"
target=$(cd "$(dirname "$0")/../docs/pictures" && pwd)
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
"$program" "$data"
gnuplot <<PLOT
set terminal svg size 720,320 font 'sans,13' background 'white'
set grid
set xlabel 't'
set key left top
set output '$target/manifold-drift.svg'
plot '$data/none.dat' using 1:2 with lines title '|x^2 + y^2 - 1|', \
     '$data/none.dat' using 1:3 with lines title '|x u + y v|'
set output '$target/manifold-projections.svg'
plot '$data/none.dat' using 1:4 with lines title 'none', \
     '$data/position.dat' using 1:4 with lines title 'position', \
     '$data/velocity.dat' using 1:4 with lines title 'velocity', \
     '$data/both.dat' using 1:4 with lines title 'both'
set terminal svg size 720,720 font 'sans,13' background 'white'
set output '$target/manifold-kepler.svg'
set size ratio -1
unset xlabel
set multiplot layout 2,2
set xrange [-3:3]
set yrange [-3:3]
plot '$data/euler.dat' every 4 with lines linewidth 0.4 title 'explicit Euler'
plot '$data/euler-projected.dat' every 4 with lines linewidth 0.4 title 'explicit Euler, projected'
set xrange [-2:2]
set yrange [-2:2]
plot '$data/symplectic.dat' every 4 with lines linewidth 0.4 title 'symplectic Euler'
plot '$data/symplectic-projected.dat' every 4 with lines linewidth 0.4 title 'symplectic Euler, projected'
unset multiplot
PLOT
shrink_svg "$target"/manifold-*.svg
