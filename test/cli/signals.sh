#!/bin/sh
# Signals: answered anywhere within a second (of a machine that is not overloaded), with nothing left.
#   signals.sh <path of daedal>
. "$(dirname "$0")/common.inc"
export DAEDAL_CACHE_DIR="$work/cache" TMPDIR="$work/tmp"

mkdir tmp

# The limit is five times the second that is promised, for a machine with that load.
limit=5

# caught PROCESS: returns when the process answers SIGINT itself, or has ended. The start of a program
# (with sanitizers, on a machine with much load) takes longer than the shortest delay below; a signal
# before main ends it without a word.
caught() {
    tries=0
    while [ $tries -lt 600 ] && grep -q '^State:[[:space:]]*[^Z]' "/proc/$1/status" 2>/dev/null; do
        case $(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null) in
            *[2367abef]) return ;;
        esac
        sleep 0.02
        tries=$((tries + 1))
    done
}

# stopped SIGNAL CODE DELAY WORDS..: a signal after DELAY seconds, and again right after it
stopped() {
    signal=$1 code=$2 delay=$3
    shift 3
    rm -rf cache
    # a script lets what it runs in the background ignore SIGINT; not here
    env --default-signal=INT "$daedal" "$@" >out 2>err &
    process=$!
    caught $process
    sleep "$delay"
    begin=$(date +%s)
    kill -s "$signal" $process 2>/dev/null || { wait $process; rm -f large.*; return; } # it was faster
    kill -s "$signal" $process 2>/dev/null
    wait $process
    got=$?
    taken=$(($(date +%s) - begin))
    # it ended by itself, right before the signal
    if [ $got -eq 0 ] && [ $taken -le 1 ]; then rm -f large.* && return; fi
    [ $got -eq "$code" ] || fail "SIG$signal during '$*' exits with $got"
    [ $taken -le $limit ] || fail "SIG$signal during '$*' is answered after $taken s"
    grep -q '^daedal: .*interrupted' err || fail "no word about SIG$signal during '$*'"
    nothing_left "$*"
    for file in large.*; do
        [ ! -e "$file" ] || fail "$file is there, though '$*' did not end"
    done
}

nothing_left() {
    for file in *partial* tmp/* cache/build-*; do
        [ ! -e "$file" ] || fail "$file is left after '$1'"
    done
    ! ps -e -o args | grep -v grep | grep -q "^[^ ]*cc1 .*$work" || fail "a compiler is left after '$1'"
}

# translation, analysis, start, steps of a large model
for delay in 0.1 0.4 1 2; do
    stopped TERM 143 $delay run "$models/ladder.mo" --set n=60000
    stopped INT 130 $delay check "$models/ladder.mo" --set n=60000
    stopped TERM 143 $delay emit "$models/ladder.mo" --set n=60000 -o large.c
    stopped INT 130 $delay init "$models/ladder.mo" --set n=60000 -o large.csv
done

# a compiler that does not end, in a process group with children of its own
cat >slow_cc <<'END'
#!/bin/sh
echo $$ >"$SLOW_PID"
sleep 600 &
wait
END
chmod +x slow_cc
for signal in INT TERM; do
    rm -rf cache pid
    SLOW_PID=$work/pid DAEDAL_CC=$work/slow_cc env --default-signal=INT \
        "$daedal" run "$models/pendulum.mo" --engine native -o p.csv >out 2>err &
    process=$!
    tries=0
    until [ -s pid ] || [ $tries -ge 600 ]; do sleep 0.1 && tries=$((tries + 1)); done
    begin=$(date +%s)
    kill -s $signal $process
    kill -s $signal $process 2>/dev/null
    wait $process
    got=$?
    [ $got -ge 130 ] || fail "SIG$signal during a compilation exits with $got"
    [ $(($(date +%s) - begin)) -le $limit ] || fail "SIG$signal during a compilation is answered late"
    ! kill -0 "$(cat pid)" 2>/dev/null || fail "the compiler is left after SIG$signal"
    nothing_left "a compilation"
    [ -z "$(ls -A cache)" ] || fail "$(ls -A cache) is left in the cache"
done

# the patience with a signal ends while a large model is tidied up: its compiler goes with it
rm -rf cache pid
SLOW_PID=$work/pid DAEDAL_CC=$work/slow_cc env --default-signal=INT \
    "$daedal" run "$models/ladder.mo" --set n=60000 >out 2>err &
process=$!
tries=0
until [ -s pid ] || [ $tries -ge 600 ]; do sleep 0.1 && tries=$((tries + 1)); done
kill -s TERM $process
until grep -q interrupted err || ! kill -0 $process 2>/dev/null; do :; done
kill -s STOP $process
sleep 1
kill -s CONT $process
wait $process
[ $? -eq 143 ] || fail "SIGTERM before tidying up does not exit with 143"
! kill -0 "$(cat pid)" 2>/dev/null || fail "the compiler is left after tidying up"
nothing_left "tidying up"

# a run with results: what was reached is there, whole
cat >long.mo <<'END'
model Long
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -x;
  annotation(experiment(StopTime = 1e7));
end Long;
END
mkfifo watch
env --default-signal=INT "$daedal" run long.mo --engine tape --interval 1 -o long.csv --json long.json \
    --history watch >out 2>err &
process=$!
exec 3<watch
head -c 60000 <&3 >/dev/null
cat <&3 >/dev/null &
kill -s HUP $process
wait $process
[ $? -eq 129 ] || fail "SIGHUP does not exit with 129"
exec 3<&-
awk -F, 'NF != 3 { bad = 1 } END { exit bad || NR < 3 }' long.csv || fail "rows after SIGHUP"
grep -q DAE_ERR_INTERRUPTED long.json || fail "json after SIGHUP"
nothing_left "a run"

# a drawing that does not end: a signal during it, and one during the run, whose rows it is to draw
mkdir bin
cat >bin/gnuplot <<'END'
#!/bin/sh
echo $$ >"$SLOW_PID"
exec sleep 600
END
chmod +x bin/gnuplot
for stop in 1 1e7; do
    rm -f pid
    PATH=$work/bin:$PATH SLOW_PID=$work/pid env --default-signal=INT \
        "$daedal" run long.mo --engine tape --stop $stop --interval 1 --plot long.svg >out 2>err &
    process=$!
    caught $process
    tries=0
    until [ $stop = 1e7 ] || [ -s pid ] || [ $tries -ge 600 ]; do sleep 0.1 && tries=$((tries + 1)); done
    [ $stop = 1 ] || sleep 0.5
    begin=$(date +%s)
    kill -s INT $process
    wait $process
    got=$?
    [ $got -eq 130 ] || fail "SIGINT with a slow drawing exits with $got"
    [ $(($(date +%s) - begin)) -le $limit ] || fail "SIGINT with a slow drawing is answered late"
    grep -q '^daedal: .*interrupted' err || fail "no word about a drawing that was interrupted"
    [ ! -s pid ] || ! kill -0 "$(cat pid)" 2>/dev/null || fail "gnuplot is left after SIGINT"
    [ ! -e long.svg ] || fail "a picture that was not drawn is there"
    nothing_left "a drawing"
done

# killed without a warning: no part of a file is left
"$daedal" run long.mo --engine tape --interval 1 -o killed.csv >out 2>err &
process=$!
sleep 0.5
kill -s KILL $process
wait $process 2>/dev/null
[ ! -e killed.csv ] || fail "a file of a killed run"

finish
