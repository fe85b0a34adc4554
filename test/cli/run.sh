#!/bin/sh
# Test of the command: run.sh <path of daedal>. Prints what failed; exit 0 if nothing did.
. "$(dirname "$0")/common.inc"
manual=$root/man/daedal.1

# expect CODE WORDS..: that exit code; success is silent on stderr, and a usage error is one line that
# begins with the name
expect() {
    ends "$@"
    shift
    if [ "$code" -eq 0 ] && [ -s err ]; then fail "daedal $* writes to stderr"; fi
    if [ "$code" -ne 0 ] && [ $# -gt 0 ]; then
        [ "$(wc -l <err)" -eq 1 ] && grep -q '^daedal: ' err || fail "daedal $*: not one clear line"
    fi
}

# at_most FILE LIMIT: the number in a file is there and not above the limit
at_most() {
    awk -v limit="$2" 'NF && $1 == $1 + 0 { ok = ($1 <= limit) } END { exit !ok }' "$1" ||
        fail "$(cat "$1") is above $2"
}

# accurate LIMIT WORDS..: run a model; its error relative to the largest value stays below
accurate() {
    limit=$1
    shift
    expect 0 run "$@"
    sed -n 's/^error .*of the largest value \([^,;]*\).*/\1/p' out >number
    at_most number "$limit"
}

# ---- help, lists ------------------------------------------------------------------------------
expect 2
expect 0 help
says '4 a judge found the result wrong, 5 the judge'
for command in run check emit demo models methods help version; do
    says "^  $command "
done
for command in run check emit demo models methods help version; do
    expect 0 help $command
    says "^usage: daedal $command"
    expect 0 $command --help
    says "^usage: daedal $command"
    expect 0 help
done
expect 0 version
says '^daedal [0-9][0-9]*\.[0-9]'
expect 0 --version
expect 0 methods
says '^  bdf '
[ "$(awk 'length > 80' out | wc -l)" -eq 0 ] || fail 'daedal methods is wider than 80 columns'
[ "$(wc -l <out)" -lt 60 ] || fail 'daedal methods is longer than a screen'
for family in $(sed -n 's/^  \([a-z][a-z0-9_]*\) .*/\1/p' out); do
    expect 0 methods "$family"
    says 'use this when'
done
expect 0 methods --names
says '^radau:9$'
[ "$(wc -l <out)" -ge 60 ] || fail 'daedal methods --names: names are missing'
expect 2 methods radua
grep -q "did you mean 'radau'" err || fail 'methods radua: no hint'

# orders and variants of a method, in one word and as options; old names work with a note
expect 0 run robertson --method radau --order 9 --csv radau_a.csv
expect 0 run robertson --method radau:9 --csv radau_b.csv
cmp -s radau_a.csv radau_b.csv || fail '--method radau --order 9 and --method radau:9 differ'
ends 0 run robertson --method radau9 --csv radau_c.csv
grep -q 'note: method "radau9" is now "radau:9"' err || fail 'no note on an old name'
cmp -s radau_a.csv radau_c.csv || fail '--method radau9 is not radau:9'
expect 0 run robertson --method rodas --variant p
expect 2 run robertson --method radau --order 7
grep -q 'orders are 5, 9, 13' err || fail 'an unknown order without a list'
expect 2 run robertson --method rodas --variant x
grep -q 'variants are p, p2' err || fail 'an unknown variant without a list'
expect 2 run robertson --order 5
expect 0 models
[ "$(wc -l <out)" -ge 15 ] || fail "models are missing from the list"
for model in $(awk 'NR > 1 { print $1 }' out); do
    expect 0 models "$model"
    says "^$model: "
done

# every option of the help is in the manual page
expect 0 help run
for option in $(grep -oE -- '--[a-z][a-z-]*' out | sort -u); do
    sed 's/\\-/-/g' "$manual" | grep -q -- "$option" || fail "$option is not in daedal.1"
done

# ---- misspelt words are answered with the nearest ----------------------------------------------
expect 2 rnu && says "did you mean 'run'"
expect 2 run robertsn && says "did you mean 'robertson'"
expect 2 run akzo --rtl 1e-3 && says "did you mean '--rtol'"
expect 2 run akzo --variables FLB,ZHX && says "did you mean 'ZHU'"
expect 2 run akzo --method bfd && says "did you mean 'bdf'"
expect 2 run akzo --linear-solver spars && says "did you mean 'sparse'"
expect 2 run akzo --projection bot && says "did you mean 'both'"
expect 2 run akzo --projection both && says "method bdf does not"
expect 2 run akzo --error-test al && says "did you mean 'all'"
expect 2 run akzo --init nome && says "did you mean 'none'"
expect 2 help nun && says "did you mean 'run'"

# ---- wrong use ---------------------------------------------------------------------------------
expect 2 run
expect 2 run akzo robertson
expect 2 run akzo --set a=1 && says 'built in'
expect 2 run akzo --engine tape && says 'built in'
expect 2 run akzo -o a.mat && says 'built in'
expect 2 run akzo -o && says 'needs a value'
expect 2 run akzo -o a.xls && says '.csv, .json or .mat'
expect 2 run akzo --rtol && says 'needs a value'
expect 2 run akzo --rtol x && says "not 'x'"
expect 2 run akzo --rtol -1
expect 2 run akzo --rtol 1e-3x
expect 2 run akzo --rtol nan
expect 2 run akzo --rtol 0 --atol 0 && says 'FLB'
expect 2 run akzo --points 1
expect 2 run akzo --points 5 --interval 1 && says 'exclude'
expect 2 run akzo --log-time --interval 1 && says 'exclude'
expect 2 run akzo --first 1 && says 'log-time'
expect 2 run akzo --max 3 && says 'ambiguous'
expect 2 run akzo --quiet=3 && says 'takes no value'
expect 2 run akzo -x && says "'-x'"
expect 2 run akzo --size 5 && says 'no size'
expect 2 run heat2d --size 2 && says 'size 2'
expect 2 run akzo --variables ''
expect 2 run akzo --plot a.jpg && says '.svg, .png or .pdf'
expect 2 version x
expect 1 run akzo --csv no-such-directory/a.csv && says 'no-such-directory/a.csv'

# ---- solutions against the references ----------------------------------------------------------
# the error of a run is a few dozen tolerances at most; ringmod is left to the benchmarks
accurate 1e-4 robertson
accurate 1e-4 akzo
accurate 1e-4 transamp
accurate 1e-3 hires
accurate 3e-4 pendulum1
accurate 3e-4 pendulum2
accurate 3e-4 pendulum_rest
accurate 1e-4 trajectory1
accurate 1e-4 trajectory2
accurate 1e-4 heat2d --size 12
accurate 1e-4 ladder --size 300
accurate 1e-4 ladder --size 300 --linear-solver banded
accurate 1e-4 heat2d --size 12 --linear-solver dense
accurate 1e-4 heat2d --size 12 --linear-solver gmres
accurate 1e-2 akzo --rtol 1e-3 --atol 1e-5
accurate 1e-3 akzo --max-order 2
accurate 1e-4 robertson --tend 4e5
accurate 1e-4 pendulum1 --error-test all
expect 0 run brusselator --size 30 --tend 1

# ---- output -------------------------------------------------------------------------------------
expect 0 run robertson --points 5 --tend 40 --csv -
[ "$(head -n 1 out)" = "t,y1,y2,y3" ] || fail "csv header"
[ "$(wc -l <out)" -eq 6 ] || fail "csv rows"
[ "$(cut -d, -f1 out | tr '\n' ' ')" = "t 0 10 20 30 40 " ] || fail "csv times"
# the solution at t = 40, to more digits than are asked for
awk -F, 'END { e = $2 / 0.715827068719405 - 1; exit !(e * e < 1e-9) }' out || fail "y1(40)"

expect 0 run robertson --interval 15 --tend 40 --csv - --variables y3,y1
[ "$(cut -d, -f1 out | tr '\n' ' ')" = "t 0 15 30 40 " ] || fail "times of --interval"
expect 0 run robertson --interval 1e12 --tend 40 --csv - --variables y3,y1
[ "$(cut -d, -f1 out | tr '\n' ' ')" = "t 0 40 " ] || fail "times of an --interval beyond the end"
[ "$(head -n 1 out)" = "t,y3,y1" ] || fail "order of --variables"

expect 0 run robertson --log-time --first 0.4 --points 6 --tend 4e4 --csv -
awk -F, 'NR > 2 { want = 0.4 * 10 ^ (NR - 3); if ($1 / want < 0.999999 || $1 / want > 1.000001) bad = 1 }
         END { exit bad || NR != 8 }' out || fail "logarithmic times"

expect 0 run heat2d --size 8 --variables 'u[3,4],u[1,2]' --points 2 --csv -
head -n 1 out | grep -q 'u\[3,4\].*u\[1,2\]' || fail "names with commas"

expect 0 run akzo --csv a.csv --json a.json --history a.hist --plot a.svg --stats
for file in a.csv a.json a.hist a.svg; do
    [ -s $file ] || fail "$file is missing"
    says "wrote $file"
done
grep -q '<svg' a.svg || fail "no svg"
steps=$(sed -n 's/^steps  *//p' out)
[ "$(grep -c ',accepted,' a.hist)" -eq "$steps" ] || fail "history against $steps steps"
[ "$(wc -l <a.csv)" -eq $((steps + 2)) ] || fail "a row for each step"
grep -q '"statistics"' a.json || fail "json without statistics"

# the history alone on standard output, the first step, and tolerances by variable
expect 0 run akzo --method bdf --history - --initial-step 1e-5
[ ! -e ./- ] || fail "--history - is standard output"
sed -n 2p out | grep -q "^0,1.0*1\?e-05," || fail "--initial-step 1e-5: $(sed -n 2p out)"
loose=$(grep -c ',accepted,' out)
expect 0 run akzo --method bdf --history - --rtol-of '*=1e-9'
[ "$(grep -c ',accepted,' out)" -gt "$loose" ] || fail "--rtol-of changes nothing"
ends 0 run "$root/models/circle.mo" --method bdf2nd:thesis --fixed-step 1e-3 --stop 0.006 --history -
[ "$(awk -F, 'NR > 1 { printf "%s", ($5 > 0 ? "+" : "0") }' out)" = 0000++ ] ||
    fail "bdf2nd:thesis tests errors from the fifth step on"
ends 0 run "$root/models/circle.mo" --method bdf2nd:thesis --rtol 1e-4 --atol-of 'q*=1e-4' --atol-of 'v*=1e-2' --atol-of lambda=1e-2 --stop 0.1
says 'which nothing checks'
expect 2 run akzo --initial-step 0 && says 'initial-step'
expect 2 run akzo --initial-step 1e-5 --fixed-step 1e-4 && says "'--initial-step' and '--fixed-step' exclude"
expect 2 run akzo --initial-step 1e-5 --steps nowhere && says "'--initial-step' and '--steps' exclude"
expect 2 run akzo --rtol-of y1 && says 'rtol-of'
expect 2 run akzo --rtol-of z=1 && says 'z'

# DASSL to the letter: the steps of DDASSL, and of Table 6.2.2 of the book
ends 0 run trajectory1 --method bdf --variant dassl --rtol 1e-6 --atol 1e-6 --stats
says '^steps  *153$'
says "its errors are DASSL's"
ends 0 run "$root/models/seeds/pendulum_acceleration.mo" --method bdf --variant dassl-tables --rtol 1e-6 --atol 1e-6 --interval 1 --stats
says '^steps  *53$'
expect 2 run pendulum1 --method bdf --variant dasl && says 'dassl, dassl-tables'

# incomplete GMRES
expect 0 run heat2d --linear-solver gmres --krylov-dimension 10 --krylov-kmp 2 --quiet
expect 2 run heat2d --krylov-kmp 2 && says 'krylov-kmp'
expect 2 run heat2d --linear-solver gmres --krylov-kmp 0 && says 'krylov-kmp'

# numbers of small steps and the tableau of extrapolation: T_33 in six rows a step is the result
expect 0 run akzo --method liex --small-steps 1,2,4 --order 3 --fixed-step 0.01 --stop 0.04 --tableau t.csv
says 'wrote t.csv'
[ "$(wc -l <t.csv)" -eq 25 ] || fail "$(wc -l <t.csv) lines of tableaus of 4 steps"
head -n 1 t.csv | grep -q '^t,h,row,column,"FLB"' || fail "head of the tableau: $(head -n 1 t.csv)"
ends 0 run akzo --method liex --small-steps 1,2,4 --order 3 --fixed-step 0.01 --stop 0.04 --vars FLB -o -
[ "$(tail -n 1 out | cut -d, -f2)" = "$(tail -n 1 t.csv | cut -d, -f5)" ] || fail "T_33 is not the result"
expect 2 run robertson --method liex --small-steps 1,x && says 'small-steps'
# events that no two times tell apart: no number that is none in the message
ends 1 run "$root/models/ball.mo" --method bdf --fixed-step 0.5 --stop 1 && says 'times can be told\. '
# every step once, also where events cut steps; two end at the end of the run, one of them cut
ends 0 run "$root/models/ball.mo" --method liex --tableau t.csv --stats && says '^  bounces  6'
[ "$(awk -F, 'NR > 1 && !seen[$1, $2]++' t.csv | wc -l)" -eq "$(sed -n 's/^steps  *//p' out)" ] || fail "tableaus of ball"
ends 0 run "$root/models/ball.mo" --method liex --tableau - && says '^t,h,row,column,"h","v"'
expect 2 run robertson --method bdf --tableau t.csv && says 'tableau'
expect 2 run robertson --method liex --small-steps 3,2 && says 'number 2 is 2 after 3'

# multistep formulas of the user, and iterations
expect 2 run robertson --method oneleg:own --formula '1,-1;1' --fixed-step 0.1 --stop 1 && says 'formula'
expect 2 run robertson --method oneleg:own --formula '1,-1;0.25,0.75' --fixed-step 0.1 --stop 1 && says 'root -3'
expect 0 run robertson --method oneleg:own --formula '1,-1;1,0' --fixed-step 0.01 --stop 0.04 --newton-iterations 20
expect 2 run robertson --newton-iterations 0 && says 'newton-iterations'

# the older names of options
expect 0 run robertson --points 3 --stop 40 --vars y1 -o -
mv out new
expect 0 run robertson --points 3 --tend 40 --variables y1 --csv -
cmp -s out new || fail "old and new names of options differ"

expect 0 run akzo --quiet
[ ! -s out ] || fail "--quiet prints"

# backwards in time, and nowhere
expect 0 run hires --tend -0.1 --points 3
expect 0 run akzo --tend 0

# ---- failures: exit 1, a diagnostic, and what was reached is written ------------------------------
expect 1 run akzo --max-steps 10 --csv part.csv --json part.json && says '10 steps'
[ "$(wc -l <part.csv)" -eq 12 ] || fail "rows of a failed run"
grep -q 'DAE_ERR_MAX_STEPS' part.json || fail "json without diagnostic"
expect 1 run akzo --tend -1 --quiet && says 't = -0.6'

# ---- prescribed steps: exactly these, or a message with file and line -------------------------------
cat >decay.mo <<'EOF'
model Decay
  Real y(start = 1, fixed = true);
equation
  der(y) = -y;
end Decay;
EOF
euler="run decay.mo --method bdf --max-order 1 --rtol 1e-12"
printf 'steps # three\n0.5\n\n0.25\n0.25\n' >lengths.txt
printf '0\n0.5\n0.75\n1\n' >times.txt
ends 0 $euler --steps lengths.txt -o lengths.csv
ends 0 $euler --steps times.txt -o times.csv && says 'no error was estimated'
cmp -s lengths.csv times.csv || fail "times and lengths of the same steps differ"
[ "$(wc -l <times.csv)" -eq 5 ] || fail "a row for every prescribed step"
awk -F, 'END { e = $2 - 1 / 1.5 / 1.25 / 1.25; print e < 0 ? -e : e }' times.csv >number
at_most number 1e-11
refuses() { # LINES WORDS OPTIONS..: the file is refused with these words
    printf -- "$1" >bad.txt
    words=$2
    shift 2
    expect 2 $euler --steps bad.txt "$@" && says "$words"
}
refuses '0.5\n0.4\n' 'bad.txt:2: the time 0.4 goes back: the one before is 0.5'
refuses '0.5\n\n0.5\n' 'bad.txt:3: 0.5 repeats the time before'
refuses '-1\n1\n' 'bad.txt:1: the time -1 lies before the start at 0'
refuses '0.5\nnan\n' "bad.txt:2: 'nan' is no finite number"
refuses '0.5\n1 2\n' "bad.txt:2: '1 2' is no finite number"
refuses 'lengths\n1\n' "bad.txt:1: 'lengths' is no finite number, nor the word times or steps"
refuses 'steps\n0.5\n-0.5\n' 'bad.txt:3: a step of -0.5 goes back'
refuses 'steps\n0\n' 'bad.txt:2: a step of 0 goes nowhere'
refuses '0.5\n' 'bad.txt:1: the steps end at 0.5, before the stop time 1' --stop 1
refuses '# nothing\n' "'bad.txt' has no steps"
refuses '0.5\n' "'--steps' and '--fixed-step' exclude each other" --fixed-step 0.1
expect 2 $euler --steps nowhere.txt && says "cannot read 'nowhere.txt'"

# ---- options of herk, by the names of the thesis -----------------------------------------------------
herk="run decay.mo --method herk:thesis"
ends 0 $herk --herk ssc=1,eps0=1e-6,beta=0.8,h0=0.1,tol=1e-9 -o own.csv
ends 0 $herk --herk SSC=0,h0=0.1,jopt=0,delta=1e-7,estat=1,nopt=0,ptol=1e-12
ends 0 $herk --herk ssc=0 --fixed-step 0.1
expect 2 $herk --herk ssc=0,h0=0.1 --fixed-step 0.2 && says "'--fixed-step' contradicts h0"
expect 2 run decay.mo --method herk --herk h0=0.1 --fixed-step 0.2 && says "'--fixed-step' contradicts h0"
expect 2 $herk --herk ssc=1,h0=0.1 --initial-step 0.2 && says "'--initial-step' contradicts h0"
expect 2 $herk --herk beta && says "needs NAME=VALUE,.. as beta=0.8, not 'beta'"
expect 2 $herk --herk ssc=1,gamma=1 && says 'gamma'
expect 2 $herk --herk ssc=yes && says "ssc is 0 or 1, not 'yes'"
expect 2 $herk --herk ssc=1,tol=0 && says "tol needs a finite number above 0, not '0'"
expect 2 $herk --herk ssc=1,beta=2 && says 'Option beta of herk'
expect 2 run decay.mo --method bdf --herk ptol=1e-9 && says 'name one of them in option method, not bdf'
expect 2 $herk && says 'herk ssc=1'
expect 2 run decay.mo --initial-step 0 && says 'initial-step'

# ---- demo -----------------------------------------------------------------------------------------
expect 0 demo
says 'daedal-demo.svg'
grep -q '<svg' daedal-demo.svg || fail "no picture"
awk '$1 == "40" { print $5 }' out >number
at_most number 1e-4

finish
