#!/bin/sh
# The pictures of docs/benchmarks.md, from the tables in bench/results:  bench/pictures.sh
# peers.csv is what `bench_peers --csv` writes; the others hold the tables of docs/notes/benchmarks.md,
# and choice.svg is drawn from docs/notes/choice.md.
set -eu
cd "$(dirname "$0")/.."
. bench/svg.sh
results=bench/results
pictures=docs/pictures
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

# All panels of one kind: the letters and grid, and the same colour for the same code in each of them.
preamble="set grid back linecolor rgb '#e0e0e0'; set key samplen 2; set tics nomirror; unset mxtics; unset mytics; set border 3
set linetype 1 lw 2.5 pt 7 ps 0.6 lc rgb '#c0392b'; set linetype 2 lw 1.5 pt 5 ps 0.5 lc rgb '#1f618d'
set linetype 3 lw 1.5 pt 9 ps 0.6 lc rgb '#7d8b2c'; set linetype 4 lw 1.5 pt 11 ps 0.6 lc rgb '#b9770e'
set linetype 5 lw 1.5 pt 13 ps 0.6 lc rgb '#6c3483'"

# legend NAME ..: one line above all panels, each name in the colour of its curves.
legend() {
    echo "unset key"
    type=1
    for name in "$@"; do
        echo "set label $type '● $name' at screen $(awk "BEGIN { print 0.02 + 0.15*$type }"),0.96 textcolor lt $type"
        type=$((type + 1))
    done
}

# panels FILE ROWS COLUMNS WIDTH HEIGHT [MARGINS]: a picture from the lines `plot ..` on standard input.
panels() {
    {
        echo "set terminal svg size $4,$5 font 'sans,12' background 'white'"
        echo "set output '$pictures/$1.svg'"
        echo "$preamble"
        echo "set multiplot layout $2,$3 ${6:-}"
        cat
        echo "unset multiplot"
    } | gnuplot
    shrink_svg "$pictures/$1.svg"
}

# curve CSV X Y WORDS..: file with columns X and Y of the rows that begin with the words.
curve() {
    csv=$1 x=$2 y=$3
    shift 3
    name="$data/$(echo "$*" | tr ' /:' '___')"
    awk -F, -v x="$x" -v y="$y" -v wanted="$(IFS=,; echo "$*")" '
        { row = $1 "," $2 "," $3; if (index(row ",", wanted ",") == 1) print $x, $y }' "$results/$csv" > "$name"
    echo "$name"
}

# Error at the end against milliseconds, one panel for each "problem,n": peers "codes" problem,n ..
peers() {
    codes=$1
    shift
    echo "set logscale xy; set format x '10^{%T}'; set format y '%g'; set xrange [] reverse; set xlabel 'error'"
    echo "set ylabel 'milliseconds'; set mxtics 1; set mytics 1"
    legend $codes
    echo "set xtics (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)"
    for problem in "$@"; do
        list=
        type=1
        for code in $codes; do
            file=$(curve peers.csv 5 13 "${problem%,*}" "${problem#*,}" "$code")
            [ ! -s "$file" ] || list="$list${list:+, }'$file' using 1:(1000*\$2) with linespoints lt $type"
            type=$((type + 1))
        done
        echo "set title '${problem%,*}, n = ${problem#*,}'"
        echo "plot $list"
        echo "unset label"
    done
}

# Correct digits against milliseconds: by_digits CSV "codes" TICS problem ..
by_digits() {
    csv=$1 codes=$2
    echo "set logscale y; set format y '%g'; set xlabel 'correct digits of positions'; set ylabel 'milliseconds'"
    echo "set mytics 1; set xtics $3"
    legend $codes
    shift 3
    for problem in "$@"; do
        list=
        type=1
        for code in $codes; do
            rows=$(awk -F, -v p="$problem" -v c="$code" '$1 == p && $3 == c { print $2, $4 }' "$results/$csv")
            file="$data/$csv-$problem-$code"
            echo "$rows" > "$file"
            [ -z "$rows" ] || list="$list${list:+, }'$file' with linespoints lt $type"
            type=$((type + 1))
        done
        echo "set title '$problem'"
        echo "plot $list"
        echo "unset label"
    done
}

row="margins 0.1,0.98,0.2,0.78 spacing 0.09,0.1"
square="margins 0.11,0.97,0.1,0.86 spacing 0.12,0.19"
peers "Daedal IDA DASSL" robertson,3 akzo,6 transamp,8 | panels peers-small 1 3 900 300 "$row"
peers "Daedal IDA" heat2d,10000 ladder,10000 ladder,100000 | panels peers-sparse 1 3 900 300 "$row"
by_digits mechanisms.csv "dopri:8 HEM5 RADAU SEULEX IDA" 4,3,13 pendulum Andrews "car axis" "chain of 50" |
    panels mechanisms 2 2 800 560 "$square"
by_digits second_order.csv "colloc2nd IDA-3 DASSL-3 RADAU5-3 RADAU5-2" 4,2,8 pendulum andrews caraxis truck |
    panels second-order 2 2 800 560 "$square"

# The best other code over radau, sorted, a colour for each number of digits.
awk -F, 'NR > 1 && $10 != "" { print $10, $3 }' $results/implicit.csv | sort -g > "$data/implicit"
panels implicit 1 1 760 300 <<PLOT
set logscale y
set yrange [0.5:6]
set ytics (0.5, 0.7, 1, 1.5, 2, 3, 4, 6)
unset xtics
set ylabel 'time of best other code / radau'
set key top left horizontal
plot '$data/implicit' using 0:(\$2 < 6 ? \$1 : 1/0) with points pt 5 ps 0.7 lc 2 title '4 digits', \
     '' using 0:(\$2 >= 6 && \$2 < 10 ? \$1 : 1/0) with points pt 7 ps 0.7 lc 1 title '6 and 7 digits', \
     '' using 0:(\$2 == 10 ? \$1 : 1/0) with points pt 9 ps 0.9 lc 5 title '10 digits', \
     1 with lines lt 1 lw 1 lc rgb 'black' notitle
PLOT

# auto over the best single method, sorted.
awk -F'|' '/^\| [a-z0-9]+ \| [0-9]+ / && $(NF - 1) + 0 > 0 { print $(NF - 1) + 0 }' docs/notes/choice.md | sort -g > "$data/choice"
panels choice 1 1 760 260 <<PLOT
set yrange [0:2]
unset xtics
set ylabel 'time of auto / best method'
set key top left Left reverse
plot '$data/choice' using 0:1 with boxes fs solid 0.6 lc rgb '#1f618d' title 'models and digits, sorted', \
     1 with lines lw 1 lc rgb 'black' notitle
PLOT

# Time against size.
panels growth 1 1 640 330 <<PLOT
set logscale xy
set format x '10^{%T}'
set format y '%g s'
set xlabel 'equations'
set key top left Left reverse
set xrange [500:2e5]
set yrange [0.01:100]
plot '$(curve growth.csv 2 3 "text to first step: ladder")' with linespoints lt 1 title 'from the text to the first step: RC ladder', \
     '$(curve growth.csv 2 3 "check: chain of pendulums")' with linespoints lt 2 title 'daedal check: chain of pendulums, index 3', \
     '$(curve growth.csv 2 3 "check: circuit")' with linespoints lt 3 title 'daedal check: circuit, index 2'
PLOT
