#!/bin/bash
# Test of `daedal sweep`: sweep.sh <path of daedal>. Exit 0 if nothing failed.
. "$(dirname "$0")/common.inc"
export XDG_CACHE_HOME="$work/cache"

cat >decay.mo <<'END_OF_MODEL'
model Decay
  type Mode = enumeration(slow, fast);
  parameter Real k(unit = "1/s", min = 0) = 1;
  parameter Mode mode = Mode.slow;
  parameter Boolean twice = false;
  parameter Integer steps = 1;
  parameter Integer n = 2;
  parameter String title = "none";
  final parameter Real f = 3;
  Real x(start = 1, fixed = true, unit = "m"), y[n], top;
equation
  der(x) = -(if mode == Mode.fast then 10 else 1)*(if twice then 2 else 1)*k*steps*x;
  for i in 1:n loop
    y[i] = i*x;
  end for;
  top = y[n];
  assert(k < 7.5, "k is too large");
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end Decay;
END_OF_MODEL

# value ROW COLUMN FILE; near ROW COLUMN FILE VALUE: of a csv table without quotes
value() { awk -F, -v r="$1" -v c="$2" 'NR == r + 1 { print $c }' "$3"; }
near() {
    awk -v x="$(value "$1" "$2" "$3")" -v y="$4" 'BEGIN { exit !(x != "" && (x - y)^2 < 1e-12) }' ||
        fail "row $1 of $3: $(value "$1" "$2" "$3"), not $4"
}
rows() { [ "$(($(wc -l <"$1") - 1))" -eq "$2" ] || fail "$1 has not $2 rows"; }
exp() { awk -v x="$1" 'BEGIN { printf "%.15g", exp(x) }'; }

# ---- points ----

expect 0 sweep decay.mo --over k=1:0.5:3 --keep 'end(x),min(x),time(x < 0.5),integral(x)' -o a.csv
says '5 points, 0 failed'
rows a.csv 5
head -1 a.csv | grep -qx 'point,k \[1/s\],end(x) \[m\],min(x) \[m\],time(x < 0.5) \[s\],integral(x) \[m.s\],status,message' ||
    fail "the header of a.csv"
for i in 1 3 5; do
    k=$(value $i 2 a.csv)
    near $i 3 a.csv "$(exp "-$k")"
    near $i 4 a.csv "$(exp "-$k")"
    near $i 5 a.csv "$(awk -v k="$k" 'BEGIN { printf "%.15g", log(2)/k }')"
    near $i 6 a.csv "$(awk -v k="$k" 'BEGIN { printf "%.15g", (1 - exp(-k))/k }')"
done
[ -e a.csv.journal ] && fail "the journal stays behind"

expect 0 sweep decay.mo --over mode=slow,Mode.fast --over twice=false,true --over steps=1,2 --grid \
    --keep 'end(x)' --csv words.csv
rows words.csv 8
near 8 5 words.csv "$(exp -40)"
near 2 5 words.csv "$(exp -2)"
[ "$(value 8 2 words.csv),$(value 8 3 words.csv),$(value 8 4 words.csv)" = fast,true,2 ] || fail "words of row 8"

# start values; structural parameters and texts are translated again
expect 0 sweep decay.mo --over x=1,2 --keep 'end(x)' --csv start.csv
near 2 3 start.csv "$(awk 'BEGIN { printf "%.15g", 2*exp(-1) }')"
expect 0 sweep decay.mo --over n=2,5,3,2 --over k=1,2,1,2 --keep 'end(top)' --csv structural.csv
near 2 4 structural.csv "$(awk 'BEGIN { printf "%.15g", 5*exp(-2) }')"
near 3 4 structural.csv "$(awk 'BEGIN { printf "%.15g", 3*exp(-1) }')"
expect 0 sweep decay.mo --over 'title=one,two words' --keep 'end(x)' --csv title.csv
[ "$(value 2 2 title.csv)" = 'two words' ] || fail "the text of row 2"

printf 'k,mode\n1,slow\n0.2,fast\n' >points.csv
expect 0 sweep decay.mo --list points.csv --keep 'end(x)' --csv list.csv
near 2 4 list.csv "$(exp -2)"

# units of a list are those of the model, or none
printf 'k [1/s],x [m]\r\n1,2\r\n' >units.csv
expect 0 sweep decay.mo --list units.csv --keep 'end(x)' --csv list.csv
near 1 4 list.csv "$(awk 'BEGIN { printf "%.15g", 2*exp(-1) }')"
printf 'k [1/min],x\n60,2\n' >units.csv
expect 2 sweep decay.mo --list units.csv --keep 'end(x)' --csv list.csv
says "'k' has the unit '1/min' in the list and '1/s' in the model"
printf 'k\n1\n\0002\n' >units.csv
expect 2 sweep decay.mo --list units.csv --keep 'end(x)' --csv list.csv
says 'units.csv:3: this is no text'

# bounds that follow from parameters hold as in 'daedal run', whatever was set first or before
sed 's/^  final/  parameter Real a(min = low) = 5, low = 1;\n&/' decay.mo >bounds.mo
for order in 'a=2,2,9 low=1,3,8' 'low=1,3,8 a=2,2,9'; do
    set -- $order
    expect 0 sweep bounds.mo --over "$1" --over "$2" --keep 'end(a)' --csv bounds.csv --jobs 1
    [ "$(cut -d, -f5 bounds.csv | tr '\n' ' ')" = 'status ok DAE_ERR_ARGUMENT ok ' ] || fail "bounds by $order"
    grep -q 'a = 2 lies below its min = 3' bounds.csv || fail "the message of a bound"
done
expect 0 sweep bounds.mo --over low=7,2 --keep 'end(a)' --csv bounds.csv
grep -q 'a = 5 lies below its min = 7' bounds.csv || fail "a bound of a parameter that does not vary"

# ---- samples: the same whoever draws, with the seed in the table ----

for by in random lhs sobol; do
    expect 0 sweep decay.mo --sample 64 'k=uniform(1,3)' 'x=normal(1,0.1)' --by $by --seed 5 --keep 'end(x)' --csv $by.csv
    rows $by.csv 64
    [ "$(value 9 2 $by.csv)" = 5 ] || fail "the seed of $by"
    [ "$(awk -F, 'NR > 1 { print int(32*($3 - 1)) }' $by.csv | sort -u | wc -l)" -ge "$([ $by = random ] && echo 20 || echo 64)" ] ||
        fail "$by does not spread"
done
"$daedal" sweep decay.mo 'k=uniform(1,3)' 'x=normal(1,0.1)' --sample 64 --seed 6 --keep 'end(x)' --csv other.csv >/dev/null
cmp -s random.csv other.csv && fail "another seed, the same points"

# ---- the same bits for any number of workers, and as 'daedal run' has them ----

pendulum=$models/pendulum.mo
for jobs in 1 2 5; do
    expect 0 sweep "$pendulum" --over g=1:0.25:12 --keep 'end,max(x),mean(y)' --jobs $jobs --csv jobs$jobs.csv
done
cmp -s jobs1.csv jobs2.csv && cmp -s jobs1.csv jobs5.csv || fail "the bits depend on the number of workers"
"$daedal" run "$pendulum" --set g=4.25 --csv run.csv --quiet
tail -1 run.csv | cut -d, -f2-6 >run.row
awk -F, '$2 == 4.25' jobs1.csv | cut -d, -f3-7 | cmp -s - run.row || fail "a row is not that of 'daedal run'"

# whole runs
expect 0 sweep decay.mo --over k=1,2 --runs whole --points 11
"$daedal" run decay.mo --set k=2 --points 11 --csv whole.csv --quiet
cmp -s whole/2.csv whole.csv || fail "whole/2.csv is not that of 'daedal run'"

# ---- failures are rows ----

expect 0 sweep decay.mo --over k=7,8,-1,1 --keep 'end(x)' -o failed.csv
says '2 failed'
says 'k is too large'
[ "$(value 2 4 failed.csv)" = DAE_ERR_ASSERT ] || fail "the status of row 2"
[ "$(value 2 3 failed.csv)" = nan ] || fail "row 2 has a value"
[ "$(value 4 4 failed.csv)" = ok ] || fail "the status of row 4"
sed -n 4p failed.csv | grep -q 'DAE_ERR_ARGUMENT,.*min' || fail "the message of row 3"
expect 1 sweep decay.mo --over k=8,9 --keep 'end(x)' -o all.csv
says 'all 2 points failed'
rows all.csv 2
# their journal stays for --resume, which solves nothing again, and for no other sweep
[ -e all.csv.journal ] || fail "no journal of points that all failed"
cp all.csv before.csv
for again in 1 2; do
    expect 1 sweep decay.mo --over k=8,9 --keep 'end(x)' -o all.csv --resume
    says 'all 2 points failed' && says '2 points were in the journal'
    cmp -s all.csv before.csv || fail "failures are others after --resume"
done
expect 2 sweep decay.mo --over k=1,9 --keep 'end(x)' -o all.csv --resume && says 'is of other points'
expect 0 sweep decay.mo --over k=1,9 --keep 'end(x)' -o all.csv
[ ! -e all.csv.journal ] || fail "the journal of points that failed stays after another sweep"
expect 0 sweep decay.mo --over k=1,2 --max-steps 3 --keep 'end(x)' --over steps=1,1 --fixed-step 0.5 --csv fixed.csv
grep -q 'no error was estimated' fixed.csv || fail "the note of a run is lost"

# a run that its model ends says so, for what it did not come to has no value
sed 's/^  assert/  when x < 0.5 then\n    terminate("half");\n  end when;\n&/' decay.mo >half.mo
expect 0 sweep half.mo --over k=1,0.1 --keep 'at(0.9,x),end(time)' --csv half.csv
sed -n 2p half.csv | grep -q '^1,1,nan,0.69314.*,ok,.*terminated at t = 0.69314.*: half' || fail "an end by the model is not told"
sed -n 3p half.csv | grep -q ',ok,$' || fail "the second run has something to say"
expect 2 sweep decay.mo --over title=1,2 -o table.csv
says 'put them into quotes'
expect 0 sweep decay.mo --over 'title="1","2"' --keep 'end(x)' --csv title.csv
expect 2 sweep decay.mo --over k=1,2 -o table.xyz
says 'must end in .csv, .json, .mat or .h5'

# a function that crashes its process: its row says so, and the others are there
cat >crash.mo <<'END_OF_MODEL'
model Crash
  function bad
    input Real k;
    output Real y;
    external "C" y = bad_function(k) annotation(Include = "#include <signal.h>
static double bad_function(double k) { if (k > 2.5 && k < 3.5) raise(SIGABRT); return k; }");
  end bad;
  parameter Real k = 1;
  Real x(start = 0, fixed = true);
equation
  der(x) = bad(k);
end Crash;
END_OF_MODEL
if "$daedal" run crash.mo --allow-external --quiet 2>err; then
    expect 0 sweep crash.mo --allow-external --over k=1:1:6 --keep 'end(x)' -o crash.csv --jobs 2
    [ "$(value 3 4 crash.csv)" = CRASHED ] || fail "a crash is no row"
    [ "$(grep -c ',ok,' crash.csv)" -eq 5 ] || fail "a crash takes others with it"
    grep -q 'signal 6' crash.csv || fail "the signal is not named"
else
    fail "crash.mo does not run: $(cat err)"
fi

# ---- formats ----

expect 0 sweep decay.mo --sample 5 'k=uniform(1,3)' --over mode=slow,fast,slow,fast,slow --keep 'end(x)' --json t.json -o t.mat
python3 - <<'END_OF_PYTHON' || fail "t.json"
import json
d = json.load(open('t.json'))
assert d['count'] == 5 and d['seed'] == '1' and d['by'] == 'random'
assert d['points'][1]['name'] == 'k' and d['points'][1]['unit'] == '1/s', d['points'][1]
assert d['points'][0]['values'] == ['slow', 'fast', 'slow', 'fast', 'slow']
assert len(d['kept'][0]['values']) == 5 and d['status'] == ['ok']*5
END_OF_PYTHON
[ -s t.mat ] || fail "t.mat"
expect 0 sweep decay.mo --over k=1,2 --keep 'end(x)' --quiet -o -
says '^2,2,0.135335'
if [ -e "$(dirname "$daedal")/daedal-hdf5.so" ]; then
    expect 0 sweep decay.mo --over k=1,2,9 --keep 'end(x)' -o t.h5
    [ "$(head -c 8 t.h5 | od -An -c | tr -d ' \n')" = '211HDF\r\n032\n' ] || fail "t.h5 is no HDF5 file"
    grep -q 'k is too large' t.h5 || fail "t.h5 has no message"
    cp t.h5 first.h5
    expect 0 sweep decay.mo --over k=1,2,9 --keep 'end(x)' -o t.h5 --jobs 1
    cmp -s t.h5 first.h5 || fail "equal tables are different HDF5 files"
else
    echo "skipped: this build has no module for HDF5"
    expect 2 sweep decay.mo --over k=1,2 -o t.h5
    says 'daedal-hdf5.so'
fi
if command -v gnuplot >/dev/null; then
    expect 0 sweep decay.mo --over k=1:1:8 --over x=1:1:4 --grid --keep 'end(x),max(x)' --plot map.svg
    grep -q 'failed' map.svg || fail "map.svg does not mark failures"
    expect 0 sweep decay.mo --over k=1:1:9 --keep 'end(x)' --plot line.svg
    grep -q 'failed' line.svg || fail "line.svg does not mark failures"
    expect 0 sweep decay.mo --sample 40 'k=uniform(1,2)' --keep 'curve(x)' --points 11 --plot band.svg
    grep -q 'median' band.svg || fail "band.svg has no quantiles"
fi

# ---- kills ----

cat >long.mo <<'END_OF_MODEL'
model Long
  parameter Real k = 1;
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -k*x;
  annotation(experiment(StopTime = 40, Tolerance = 1e-8));
end Long;
END_OF_MODEL
long="sweep long.mo --sample 1500 k=uniform(1,2) --keep end(x),max(v) --quiet"
"$daedal" $long -o whole.csv || fail "the sweep that is not killed"
for what in writer workers all worker; do
    rm -f killed.csv killed.csv.journal
    for tries in 1 2 3 4 5 6 7 8; do
        "$daedal" $long -o killed.csv --resume >/dev/null 2>&1 &
        process=$!
        sleep 0.$((RANDOM % 3))$((RANDOM % 10))
        children=$(pgrep -P $process)
        case $what in
        writer) kill -9 $process ;;
        workers) [ -z "$children" ] || kill -9 $children ;;
        worker) [ -z "$children" ] || kill -9 ${children%%[!0-9]*} ;;
        all) kill -9 $process $children ;;
        esac 2>/dev/null
        wait $process 2>/dev/null
        [ -e killed.csv ] && break
    done
    [ -e killed.csv ] || "$daedal" $long -o killed.csv --resume >/dev/null 2>&1
    cmp -s whole.csv killed.csv || fail "kill -9 of the $what: another table"
    [ -e killed.csv.journal ] && fail "kill -9 of the $what: the journal stays"
done 2>/dev/null

# an interruption is answered; the journal goes on, and fits nothing else
"$daedal" $long --sample 100000 -o stopped.csv >out 2>err &
process=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -e stopped.csv.journal ] && [ "$(wc -c <stopped.csv.journal)" -gt 1000 ] && break
    sleep 0.2
done
kill -TERM $process
wait $process
[ $? -eq 143 ] || fail "exit code after an interruption"
grep -q "resume" err || fail "no word of '--resume'"
[ -e stopped.csv ] && fail "an interrupted sweep has a table"
expect 2 $long --sample 100000 -o stopped.csv
says 'not finished'
expect 2 $long --sample 1500 -o stopped.csv --resume
says 'other points'
expect 2 $long --sample 100000 -o stopped.csv --resume --rtol 1e-3
says 'other options'
sed 's/-k\*x/-k*x - 0.1*v/' long.mo >longer.mo
cp stopped.csv.journal kept.journal
mv longer.mo long.mo
expect 2 $long --sample 100000 -o stopped.csv --resume
says 'another model'
cmp -s kept.journal stopped.csv.journal || fail "a journal that does not fit is touched"
echo nonsense >stopped.csv.journal
expect 2 $long --sample 100000 -o stopped.csv --resume
says 'no journal of a sweep'
rm -f stopped.csv.journal

# ---- MPI ----

if [ -e "$(dirname "$daedal")/daedal-mpi.so" ] && command -v mpirun >/dev/null; then
    options="-n 2"
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # MPI has leaks of its own
    mpirun --version 2>/dev/null | grep -q 'Open MPI' && options="--oversubscribe $options"
    [ "$(id -u)" -eq 0 ] && mpirun --version 2>/dev/null | grep -q 'Open MPI' && options="--allow-run-as-root $options"
    timeout 120 mpirun $options "$daedal" sweep "$pendulum" --over g=1:0.25:12 --keep 'end,max(x),mean(y)' \
        --csv ranks.csv >out 2>err || fail "two ranks"
    cmp -s jobs1.csv ranks.csv || fail "the bits depend on the number of ranks"
    [ "$(grep -c '^Pendulum' out)" -eq 1 ] || fail "each rank speaks"
    timeout 60 mpirun $options "$daedal" sweep "$pendulum" --over g=1:0:12 >out 2>err && fail "a wrong range, two ranks"
    says 'its step is 0'
else
    echo "skipped: there is no MPI, or no module for it"
fi
env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 PATH="$PATH" sh -c "
    cp '$daedal' alone; ./alone sweep '$pendulum' --over g=1,2" >out 2>err && fail "ranks without a module"
says 'daedal-mpi.so'

# ---- words that are wrong ----

wrong() {
    message=$1
    shift
    expect 2 sweep "$@"
    says "$message"
}
wrong 'sweep over what' decay.mo
wrong 'its step is 0' decay.mo --over k=1:0:5
wrong 'it is empty' decay.mo --over k=5:1:1
wrong 'START:STEP:STOP' decay.mo --over k=1:5
wrong 'says not what varies' decay.mo --over k
wrong "parameter or variable" decay.mo --over kk=1,2
wrong 'final' decay.mo --over f=1,2
wrong 'several elements' decay.mo --over y=1,2
wrong 'no value of' decay.mo --over mode=slow,medium
wrong 'no value of' decay.mo --over steps=1,1.5
wrong 'a number' decay.mo --over k=1,two
wrong 'as many' decay.mo --over k=1,2 --over steps=1,2,3
wrong 'varied twice\|given twice' decay.mo --over k=1,2 --over k=1,2
wrong 'Cannot read' decay.mo --list nowhere.csv
wrong 'no distribution' decay.mo --sample 10 'k=gauss(1,2)'
wrong 'sample what' decay.mo --sample 10
wrong 'say how often' decay.mo 'k=uniform(1,2)'
wrong 'random, lhs or sobol' decay.mo --sample 10 'k=uniform(1,2)' --by halton
wrong "goes with '--sample'" decay.mo --over k=1,2 --by lhs
wrong 'no variable or parameter z' decay.mo --over k=1,2 --keep 'max(z)'
wrong 'outside of the run' decay.mo --over k=1,2 --keep 'at(2,x)'
wrong 'takes a condition' decay.mo --over k=1,2 --keep 'time(x)'
wrong 'says not what to keep' decay.mo --over k=1,2 --keep 'peak(x)'
wrong 'built in' andrews --over k=1,2
wrong 'whole number' decay.mo --over k=1,2 --jobs 0
wrong 'whole number' decay.mo --over k=1,2 --seed -1
wrong 'resume what' decay.mo --over k=1,2 --resume
wrong 'no option' decay.mo --over k=1,2 --history h.csv
wrong 'is the model itself' decay.mo --over k=1,2 --csv decay.mo
wrong 'is empty' decay.mo --over k=,
wrong 'finite numbers' decay.mo --over k=1:nan:2
wrong 'are refused' decay.mo --over k=1:1e-9:1e9
wrong 'a number or a name is missing' decay.mo --over k=1,2 --keep 'max(x+)'
wrong 'something is missing' decay.mo --over k=1,2 --keep ''
wrong 'says not what to keep' decay.mo --over k=1,2 --keep 'end(x'
wrong 'low must lie below high' decay.mo --sample 10 'k=uniform(2,1)'
expect 2 run decay.mo --over k=1,2
says "is for 'daedal sweep'"
expect 1 sweep decay.mo --over k=1,2 -o nowhere/table.csv
says 'cannot be written\|cannot be made'
[ -e nowhere ] && fail "a directory is made"

# ---- expressions without a value are told, in their rows; a condition that never holds is none ----
expect 0 sweep decay.mo --over k=1,2 --keep 'max(log(x - 0.5)),end(x)' -o undefined.csv
value 1 3 undefined.csv | grep -q nan || fail "a logarithm of a negative number has a value"
grep -c 'max(log(x - 0.5)) has no finite value' undefined.csv | grep -qx 2 || fail "no message: no value"
expect 0 sweep decay.mo --over k=1,2 --keep 'time(x > 5),end(x)' -o never.csv
grep -q 'finite' never.csv && fail "a condition that never holds is told"

# ---- the model is compiled before there are workers: once, and rows say nothing of it ----
if command -v cc >/dev/null; then
    printf '#!/bin/sh\necho x >>"%s"\nexec cc "$@"\n' "$work/compilers" >slow-cc
    chmod +x slow-cc
    sed 's/Decay/Cold/; s/-(if/-1.25*(if/' decay.mo >cold.mo
    DAEDAL_CC="$work/slow-cc" "$daedal" sweep cold.mo --sample 40 'k=uniform(1,2)' --jobs 4 -o cold.csv >out 2>err ||
        fail "a sweep without a cache"
    expect 0 sweep cold.mo --sample 40 'k=uniform(1,2)' --jobs 1 --engine tape -o tape.csv
    cmp -s cold.csv tape.csv || fail "a row says something of the compiler, or has other bits"
    [ "$(wc -l <compilers)" -eq 1 ] || fail "$(wc -l <compilers) compilers for one model"
fi
finish
