#!/bin/sh
# Test of checkpoints: checkpoint.sh <path of daedal>. Runs that are killed at random moments and go
# on write the files of one that was neither killed nor saved, byte for byte. Exit 0 if nothing failed.
. "$(dirname "$0")/common.inc"
export XDG_CACHE_HOME="$work/cache"

# Run a model until it has come to its end, killed after some milliseconds each time but the last:
# killed NAME MODEL MILLISECONDS.. -- OPTION..
killed() {
    name=$1 model=$2
    shift 2
    moments=
    while [ "$1" != -- ]; do moments="$moments $1" && shift; done
    shift
    for ms in $moments; do
        how=--checkpoint
        [ -e "$name.ck" ] && how=--resume
        "$daedal" run "$model" "$@" -o "$name.csv" --json "$name.json" $how "$name.ck" \
            >/dev/null 2>&1 &
        pid=$!
        sleep "0.$ms"
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null && return 0 # it was faster
    done
    how=--checkpoint
    [ -e "$name.ck" ] && how=--resume
    expect 0 run "$model" "$@" -o "$name.csv" --json "$name.json" $how "$name.ck"
}

# Without the times that runs took.
plain() {
    grep -v seconds "$1" >"$1.plain"
}

# refused WORDS..: a failure of whatever kind, with a message
refused() {
    "$daedal" "$@" >out 2>err </dev/null && fail "daedal $* is not refused"
    [ -s err ] || fail "daedal $* says nothing"
}

# ---- killed at random moments ----

seed=$(($$ % 97))
for m in ringmod caraxis pendulumwall; do
    steps=40
    [ $m = ringmod ] && steps=400
    expect 0 run "$models/$m.mo" -o "$m-whole.csv" --json "$m-whole.json"
    expect 0 run "$models/$m.mo" -o "$m-saved.csv" --checkpoint "$m-whole.ck" --every ${steps}steps
    cmp -s "$m-saved.csv" "$m-whole.csv" || fail "$m: saves change the csv file"
    [ -e "$m-whole.ck" ] || [ -e "$m-whole.ck.rows" ] && fail "$m: a checkpoint is left behind"
    seed=$(((seed * 37 + 11) % 89))
    killed "$m" "$models/$m.mo" "0$((10 + seed))" "1$((10 + seed))" "0$((60 + seed % 30))" -- \
        --every ${steps}steps
    cmp -s "$m.csv" "$m-whole.csv" || fail "$m: the csv file of a run that was killed differs"
    plain "$m.json" && plain "$m-whole.json"
    cmp -s "$m.json.plain" "$m-whole.json.plain" || fail "$m: the json file differs"
done

# ---- by the clock, at every moment ----

expect 0 run "$models/caraxis.mo" -o clock.csv --checkpoint clock.ck --every 0.001s
cmp -s clock.csv caraxis-whole.csv || fail "the clock changes results"

# ---- every model: stopped in the middle, and resumed ----

for model in "$models"/*.mo; do
    m=all-$(basename "$model" .mo)
    ends 0 run "$model" -o "$m-whole.mat"
    # '--max-steps' ends it as a failure does: the last point is rescued
    "$daedal" run "$model" -o "$m.mat" --checkpoint "$m.ck" --every 3steps --every 1h --max-steps 9 \
        >out 2>err
    if [ -e "$m.ck" ]; then
        says "resume $m.ck"
        rm -f "$m.mat"
        ends 0 run "$model" -o "$m.mat" --resume "$m.ck" --every 1h
    fi
    cmp -s "$m.mat" "$m-whole.mat" || fail "$m: the file of a run that went on differs"
done

# ---- a start in between cannot be saved: the run goes on, and is saved behind it ----

ends 0 run "$models/pendulumloop.mo" --method glm -o glm-whole.csv
ends 0 run "$models/pendulumloop.mo" --method glm -o glm.csv --checkpoint glm.ck --every 3steps
cmp -s glm.csv glm-whole.csv || fail "saves of glm change the csv file"

# ---- inputs follow the tables that they followed ----

cat >driven.mo <<'END_OF_MODEL'
model Driven
  input Real u;
  Real x(start = 0, fixed = true);
equation
  der(x) = u - x;
  annotation(experiment(StopTime = 10));
end Driven;
END_OF_MODEL
printf 'time,u\n0,1\n3,2\n9,5\n10,5\n' >u.csv
sed 's/^9,5/9,6/' u.csv >later.csv
ends 0 run driven.mo --input u.csv -o driven-whole.csv
"$daedal" run driven.mo --input u.csv -o driven.csv --checkpoint driven.ck --every 5steps --max-steps 10 \
    >out 2>err
[ -e driven.ck ] || fail "no checkpoint of driven.mo"
refused run driven.mo --input later.csv -o driven.csv --resume driven.ck
says 'inputs follow other tables'
ends 0 run driven.mo --input u.csv -o driven.csv --resume driven.ck
cmp -s driven.csv driven-whole.csv || fail "a driven run that went on differs"

# ---- what can never be saved is told at the start ----

expect 2 run "$models/traps/bridge_ideal.mo" --checkpoint array.ck --every 1h
says 'cannot be saved at t = 0: its equations are integrated by their derivative array'
[ -e array.ck ] || [ -e array.ck.rows ] && fail "a checkpoint of nothing"

# ---- all digits, and another engine ----

ends 0 run "$models/pendulum.mo" --method taylor --precision quad -o quad-whole.csv
"$daedal" run "$models/pendulum.mo" --method taylor --precision quad -o quad.csv \
    --checkpoint quad.ck --every 5steps --every 1h --max-steps 12 >out 2>err
ends 0 run "$models/pendulum.mo" --method taylor --precision quad -o quad.csv --resume quad.ck \
    --engine tape
cmp -s quad.csv quad-whole.csv || fail "digits beyond those of doubles are lost"

# ---- a signal ----

"$daedal" run "$models/ringmod.mo" -o term.csv --checkpoint term.ck --every 1h --set Cs=2e-12 \
    --rtol 1e-9 >out 2>err &
pid=$!
sleep 1
kill -TERM $pid 2>/dev/null
wait $pid
code=$?
if [ $code = 143 ]; then
    says "checkpoint 'term.ck' is of t = .*--resume term.ck\|before its first checkpoint\|during the translation"
fi

# ---- what cannot be used is named, and nothing is lost ----

"$daedal" run "$models/caraxis.mo" -o bad.csv --checkpoint bad.ck --every 20steps --max-steps 100 \
    >out 2>err
[ -s bad.ck ] && [ -s bad.ck.rows ] || fail "no checkpoint is left"
cp bad.ck keep.ck && cp bad.ck.rows keep.ck.rows
expect 2 run "$models/caraxis.mo" -o bad.csv --checkpoint bad.ck
says "bad.ck' is there already.*--resume bad.ck"
expect 2 run "$models/caraxis.mo" -o bad.csv --resume none.ck
says "none.ck' cannot be read"
refused run "$models/caraxis.mo" -o bad.csv --resume bad.ck --rtol 1e-4
says 'rtol'
refused run "$models/caraxis.mo" -o bad.csv --resume bad.ck --set M=9
says 'parameter M = 10.*here it is 9'
refused run "$models/caraxis.mo" -o bad.csv --resume bad.ck --method bdf
says 'method'
refused run "$models/caraxis.mo" -o bad.csv --resume bad.ck --vars lambda
says 'other variables'
refused run "$models/caraxis.mo" -o bad.csv --resume bad.ck --stop 2
says 'other times'
refused run "$models/pendulum.mo" -o bad.csv --resume bad.ck
says 'cannot be used'
expect 2 run "$models/caraxis.mo" --checkpoint a --resume b
expect 2 run "$models/caraxis.mo" --every 60s
expect 2 run "$models/caraxis.mo" --checkpoint a.ck --every 60
says '60s, 10min, 2h or 500steps'
expect 2 run "$models/caraxis.mo" --checkpoint a.ck --history h.csv
expect 2 verify "$models/caraxis.mo" --checkpoint a.ck
[ -e a.ck ] && fail "a checkpoint of nothing"
for at in 3 40 200 1000 4000; do # bytes that are others
    cp keep.ck bad.ck
    printf '\252\125\252' | dd of=bad.ck bs=1 seek=$at conv=notrunc 2>/dev/null
    expect 2 run "$models/caraxis.mo" -o bad.csv --resume bad.ck
    says "bad.ck' cannot be used"
done
head -c 5000 keep.ck >bad.ck
expect 2 run "$models/caraxis.mo" -o bad.csv --resume bad.ck
says 'ends too early'
: >bad.ck
expect 2 run "$models/caraxis.mo" -o bad.csv --resume bad.ck
cp keep.ck bad.ck
printf 'x' | dd of=bad.ck.rows bs=1 seek=77 conv=notrunc 2>/dev/null
expect 2 run "$models/caraxis.mo" -o bad.csv --resume bad.ck
says 'bad.ck.rows.*damaged'
# .. and with the whole files it still goes on
cp keep.ck.rows bad.ck.rows
expect 0 run "$models/caraxis.mo" -o bad.csv --resume bad.ck --every 21steps
cmp -s bad.csv caraxis-whole.csv || fail "a run that went on after all of that differs"

finish
