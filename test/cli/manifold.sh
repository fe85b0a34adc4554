#!/bin/sh
# Options of methods on manifolds: manifold.sh <path of daedal>. Values that are taken, values that are
# not, and refusals, which name the culprit. Prints what failed; exit 0 if nothing did.
. "$(dirname "$0")/common.inc"

cat >pendulum.mo <<'MODEL'
model Pendulum "with its energy"
  Real x(start = 1, fixed = true), y(start = 0), u(start = 0), v(start = 0, fixed = true), lambda;
  Real energy, wrong;
equation
  der(x) = u;
  der(y) = v;
  der(u) = -x*lambda;
  der(v) = -1 - y*lambda;
  x^2 + y^2 = 1 "rod";
  energy = (u^2 + v^2)/2 + y + 1;
  wrong = energy + x;
  annotation(experiment(StopTime = 5));
end Pendulum;
MODEL
cat >drag.mo <<'MODEL'
model Drag "a force that depends on velocities"
  Real x(start = 1, fixed = true), y(start = 0), u(start = 0), v(start = 0, fixed = true), lambda;
equation
  der(x) = u;
  der(y) = v;
  der(u) = -x*lambda;
  der(v) = -1 - 0.1*v - y*lambda;
  x^2 + y^2 = 1;
  annotation(experiment(StopTime = 1));
end Drag;
MODEL

# taken OPTIONS..: the run succeeds, silently on stderr
taken() {
    "$daedal" run pendulum.mo "$@" >out 2>err </dev/null || fail "run $* exits with $?"
    [ -s err ] && fail "run $* writes to stderr"
    return 0
}

# refused CODE WORDS OPTIONS..: it does not, and the one line of its message has the words
refused() {
    code=$1 words=$2
    shift 2
    ends "$code" run --quiet "${model:-pendulum.mo}" "$@"
    [ "$(wc -l <err)" -eq 1 ] && grep -q '^daedal: ' err || fail "run $*: not one clear line"
    grep -qF -- "$words" err || fail "run $*: no '$words'"
}

# above, below LABEL LIMIT: the number behind the label in the statistics
number() { sed -n "s/^$1  *\\([0-9].*\\)/\\1/p" out; }
above() { awk -v a="$(number "$1")" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 > b) }' || fail "$1 is not above $2"; }
below() { awk -v a="$(number "$1")" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 < b) }' || fail "$1 is not below $2"; }

# ---- --projection: the pendulum's constraints at the ends of steps ---------------------------------
position='largest |g|' velocity="largest |g'|, hidden"
taken --method dopri:5 --projection none --stats && above "$position" 1e-9 && above "$velocity" 1e-9
taken --method dopri:5 --projection position --stats && below "$position" 1e-9 && above "$velocity" 1e-9
taken --method dopri:5 --projection velocity --stats && above "$position" 1e-9 && below "$velocity" 1e-12
taken --method dopri:5 --projection both --stats && below "$position" 1e-9 && below "$velocity" 1e-12
taken --method prk --projection auto --stats && below "$position" 1e-9
refused 2 "did you mean 'both'" --projection bot
refused 2 "unknown projection 'sideways'" --projection sideways
refused 2 "option '--projection' needs a value" --projection
refused 2 'method rattle:2 does not' --method rattle --fixed-step 0.1 --projection both

# ---- --invariant, --watch --------------------------------------------------------------------------
for method in 'dopri:5' 'dopri:8' 'prk' 'euler --fixed-step 0.01' 'symplectic_euler --fixed-step 0.01' \
    'shake --fixed-step 0.05' 'rattle --fixed-step 0.05' 'rattle:4 --fixed-step 0.1' 'lobatto:4 --fixed-step 0.1'; do
    # shellcheck disable=SC2086
    taken --method $method --rtol 1e-8 --invariant energy --stats && below 'largest drift' 1e-8
    # shellcheck disable=SC2086
    refused 2 '(wrong, at t = ' --method $method --invariant energy --invariant wrong
done
taken --method rattle --fixed-step 0.05 --invariant energy --watch --stats && above 'largest drift' 1e-5
taken --method bdf --invariant energy --invariant wrong --watch --stats && above 'largest drift' 0.1
refused 2 'Invariant nothing is no variable of the model' --method dopri:5 --invariant nothing
refused 2 '(lambda, at t = 0)' --method dopri:5 --invariant lambda
refused 2 "option '--invariant' needs a value" --invariant
refused 2 "option '--watch' needs '--invariant'" --method dopri:5 --watch
for method in 'symplectic_euler --fixed-step 0.01' 'shake --fixed-step 0.05' 'lobatto:4 --fixed-step 0.1'; do
    # shellcheck disable=SC2086
    taken --method $method --invariant energy --output-only --stats && below 'largest drift' 1e-8
done
refused 2 "option '--output-only' needs '--invariant'" --method rattle --fixed-step 0.05 --output-only
refused 2 "'--output-only' and '--watch' exclude" --method rattle --fixed-step 0.05 --invariant energy --watch --output-only
for method in auto dopri:5 bdf; do
    refused 2 "method $method is none" --method $method --invariant energy --output-only
done
many=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do many="$many --invariant energy"; done
# shellcheck disable=SC2086
refused 2 'more than 16 invariants' $many

# ---- --baumgarte -----------------------------------------------------------------------------------
taken --method dopri:5 --baumgarte auto --stats && below "$position" 1e-4
taken --method dopri:8 --baumgarte 5 && taken --method dopri:5 --baumgarte 10:5
for value in 0 -1 x 1: 1:0 :2 10:x inf; do
    refused 2 "option '--baumgarte' needs a finite number above 0" --method dopri:5 --baumgarte "$value"
done
refused 2 'method bdf is none' --method bdf --baumgarte auto
refused 2 'method hem:5 is none' --method hem:5 --baumgarte 10

# ---- --table -----------------------------------------------------------------------------------------
cat >rk4.txt <<'TABLE'
name RK4
order 4
c 0 1/2 1/2 1
A
 0
 1/2
 0 1/2
 0 0 1
b 1/6 1/3 1/3 1/6
TABLE
sed 's/1\/3 1\/3/1\/3 1\/0/' rk4.txt >zero.txt
taken --method prk --table rk4.txt --fixed-step 0.01 --stats && below "$position" 1e-9
refused 2 'without them method prk:table cannot estimate errors' --method prk --table rk4.txt
refused 2 'condition (6) of Brasey and Hairer' --method hem --table rk4.txt
refused 2 'zero.txt: Line 9 of the table: "1/0" in b is not finite' --method prk --table zero.txt
refused 2 'No such file' --method prk --table none.txt
refused 2 'Option table is for methods hem, herk, prk and irk' --method bdf --table rk4.txt

# ---- --coordinates ---------------------------------------------------------------------------------
taken --method dopri:5 --coordinates tangent --stats && below "$position" 1e-9
taken --method dopri:8 --coordinates partitioned --stats && below "$position" 1e-9
taken --method prk --coordinates ambient
refused 2 "did you mean 'tangent'" --coordinates tangnet
taken --method radau --coordinates partitioned
taken --method bdf --coordinates tangent
refused 2 'method bdf2nd is none' --method bdf2nd --coordinates partitioned

# ---- --precision -----------------------------------------------------------------------------------
taken --method taylor --precision double && taken --method taylor --precision long --rtol 1e-16 --atol 1e-16
refused 2 "unknown precision 'octuple'" --precision octuple
refused 2 'Method dopri:5 computes in double precision only' --method dopri:5 --precision long
refused 1 'more accuracy than double precision has' --method taylor --rtol 1e-17 --atol 1e-17
refused 1 'more accuracy than long double precision has' --method taylor --precision long --rtol 1e-20 --atol 1e-20
refused 2 'Method taylor has orders 1 to 30; 31' --method taylor --max-order 31
if "$daedal" run pendulum.mo --method taylor --precision quad --quiet >out 2>err; then
    taken --method taylor --precision quad --rtol 1e-25 --atol 1e-25
    refused 1 'more accuracy than quadruple precision has' --method taylor --precision quad --rtol 1e-33 --atol 1e-33
else
    grep -q 'without quadruple precision' err || fail "--precision quad"
fi

cat >branch.mo <<'MODEL'
model Branch "an output that has no value on the other side of the event"
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -1 - time;
  y = if x > 0 then sqrt(x) else 7;
end Branch;
MODEL
"$daedal" run branch.mo --start-time 1 --precision long -o branch.csv >out 2>err || fail '--precision long at an event'
grep -q nan branch.csv && fail '--precision long: nan at an event'

# ---- --fixed-step ----------------------------------------------------------------------------------
taken --method rattle --fixed-step 0.05 --stats && grep -q '^steps  *100$' out || fail '100 steps of 0.05'
taken --method dopri:5 --fixed-step 0.05 && grep -q 'Constant steps of 0.05: no error was estimated' out ||
    fail 'a note about constant steps'
taken --method dopri:5 && grep -q 'Constant steps' out && fail 'a note about constant steps without them'
refused 2 "'--fixed-step 1e-12' needs 5e+12 steps from 0 to 5" --method dopri:5 --fixed-step 1e-12
refused 2 "'--max-step 1e-300' needs 5e+300 steps from 0 to 5" --max-step 1e-300
refused 2 'an interval of 1e-12 makes 5e+12 rows' --interval 1e-12
refused 1 '10 steps have reached' --max-step 1e-12 --max-steps 10
for value in 0 -1 x inf nan; do
    refused 2 "option '--fixed-step' needs a finite number above 0" --method rattle --fixed-step "$value"
done
for method in symplectic_euler shake rattle:2 rattle:4 rattle:6 rattle:8 lobatto:4 lobatto:6; do
    refused 2 "Method $method takes constant steps only" --method $method
done
model=drag.mo
for method in symplectic_euler shake; do
    refused 2 'depends on velocities' --method $method --fixed-step 0.01
    grep -qF '(variable y)' err || fail "$method: the coordinate is not named"
done
model=

# ---- --threads -------------------------------------------------------------------------------------
for value in 0 1 2 64; do taken --method radau --threads $value; done
for value in 65 -1 x 1.5; do
    refused 2 "option '--threads' needs a whole number from 0 to 64" --method radau --threads "$value"
done

finish
