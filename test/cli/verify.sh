#!/bin/sh
# Test of `daedal verify` and `run --verify`: verify.sh <path of daedal>. Exit 0 if nothing failed.
. "$(dirname "$0")/common.inc"
export XDG_CACHE_HOME="$work/cache"

silent() { [ -s out ] && fail "something is printed"; }

cat >turn.mo <<'END'
model Turn
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = y;
  der(y) = -x;
  annotation(experiment(StopTime = 10));
end Turn;
END

# a right result, in full and in json
expect 0 verify turn.mo
says 'Good: every variable is within'
says 'radau'
says 'bdf, rtol 1e-08, atol 1e-11'
says 'line 5'
expect 0 verify turn.mo --json report.json --quiet
silent
grep -q '"verdict": "good"' report.json || fail "no verdict in report.json"
grep -q '"name": "y"' report.json || fail "no variable in report.json"
expect 0 verify turn.mo --json -
grep -q '^{' out || fail "json does not begin the output"
python3 -c 'import json; r = json.load(open("report.json")); assert len(r["variables"]) == 2 and len(r["equations"]) == 2 and r["variables"][0]["tolerances"] < 100' ||
    fail "report.json cannot be read"
expect 0 run turn.mo --verify
says 'judge     Good'
expect 0 run turn.mo --verify -o -
grep -q 'Good' out && fail "the verdict stands in the csv"

# a wrong one: constant steps of the lowest order, 4 whatever else is asked for
expect 4 verify turn.mo --method bdf --max-order 1 --fixed-step 0.05
says 'Off: [xy] is wrong by'
says 'the judge (radau)'
expect 4 run turn.mo --method bdf --max-order 1 --fixed-step 0.05 --verify
expect 4 run turn.mo --method bdf --max-order 1 --fixed-step 0.05 --verify --quiet
silent
expect 0 run turn.mo --method bdf --max-order 1 --fixed-step 0.05
expect 0 verify turn.mo --method bdf --max-order 1 --fixed-step 0.05 --limit 1e9

# no judge: never a silent pass
expect 5 verify turn.mo --judge rattle
says 'Could not be verified'
says 'rattle'

# hidden constraints with their lines, events side by side, built-in models
expect 0 verify "$models/pendulum.mo"
says 'line 15.*d2/dt2'
expect 0 verify "$models/ball.mo"
says 'h <= 0 (line 11)'
says 'events: 6 in the run, 6 with the judge'
expect 0 verify robertson
says 'conservation'

# variables below their absolute tolerances: a note with what to give, and none where that is given
trace=$models/traps/trace.mo
expect 0 run "$trace"
says "note      d (at most 1.*, atol 1e-09): hardly above the absolute tolerance"
says "--atol-of 'd=1e-18', or nominal = 1e-12"
expect 0 run "$trace" --atol 1e-9 # obeyed as it is said
says 'c (at most .*d (at most '
expect 0 run "$trace" --atol-of d=1e-18
grep -q 'the absolute tolerance, or below' out && fail "a note although the tolerance is given"
expect 0 run "$trace" --atol 1e-9 --atol-of '?=1e-18'
grep -q 'the absolute tolerance, or below' out && fail "a pattern is not heeded"
"$daedal" run "$trace" -o - >out 2>err
grep -q 'daedal: note: d (at most' err || fail "no note beside a csv on standard output"
expect 0 run "$trace" --quiet
silent
expect 0 run "$models/pendulum.mo"
grep -q 'the absolute tolerance, or below' out && fail "a note without a reason"
expect 2 run "$trace" --atol-of nothing=1
says "unknown variable 'nothing'"
expect 2 run "$trace" --atol-of 'x*=1'
expect 2 run "$trace" --atol-of c=-1
expect 2 run "$trace" --atol-of c
expect 0 verify "$trace" --atol-of d=1e-18
says 'Good'

# the text is read again: a pulse between the stages of constant steps, whoever agrees
cat >stepped.mo <<'END'
model Stepped
  Real c(start = 0, fixed = true);
equation
  der(c) = -0.1*c + 100*exp(-((time - 7.55)/0.01)^2);
  annotation(experiment(StopTime = 20));
end Stepped;
END
expect 4 verify stepped.mo --method dopri --fixed-step 1 --json report.json
says 'not as the equations say'
says 'line 4, der(c) = '
python3 -c 'import json; f = json.load(open("report.json"))["faults"][0]; assert f["line"] == 4 and abs(f["t"] - 7.55) < 1 and abs(f["left"]) > 1 > f["allowed"]' ||
    fail "report.json does not have the fault"
expect 0 verify stepped.mo --max-step 0.005

# what the interpreter does not know is named, and not good
cat >late.mo <<'END'
model Late
  Real x(start = 1, fixed = true);
equation
  der(x) = -'Modelica.Math.sin'(x);
  annotation(experiment(StopTime = 1));
end Late;
END
expect 5 verify late.mo
says 'Cannot tell: .*line 4'
says 'not judged by the interpreter of the text'

# the same model in other words
expect 0 verify turn.mo --thorough --json report.json
says 'the same model in other words'
says '  scaled  '
python3 -c 'import json; v = json.load(open("report.json"))["variants"]; assert [w["name"] for w in v] == ["renamed", "permuted", "scaled", "split", "other guesses"] and all(w["tolerances"] < 100 for w in v)' ||
    fail "report.json does not have the variants"

# usage
expect 2 verify
expect 2 verify turn.mo --plot a.svg
says "'--plot' is for 'daedal run'"
expect 2 verify turn.mo --judge nobody
expect 2 verify turn.mo --limit 0
expect 2 verify turn.mo --unknown
says "help verify"
expect 2 verify nothing.mo
echo 'model M Real x; equation x = ; end M;' >bad.mo
expect 3 verify bad.mo
expect 0 help verify

finish
