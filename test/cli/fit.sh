#!/bin/sh
# Test of `daedal fit`: fit.sh <path of daedal>. Exit 0 if nothing failed.
. "$(dirname "$0")/common.inc"
export XDG_CACHE_HOME="$work/cache"

pinene=$models/fit/pinene.mo

# about NAME VALUE TOLERANCE: what the table says of a parameter
about() {
    awk -v name="$1" -v exact="$2" -v tolerance="$3" '
        $1 == name { value = $2 == "(start)" ? $3 : $2; found = 1 }
        END { exit !(found && (value - exact) ^ 2 <= tolerance ^ 2) }' out || fail "$1 is not $2"
}

# y = a exp(-k t) + b; T acts on nothing but k
cat >decay.mo <<'END_OF_MODEL'
model Decay
  parameter Real k(unit = "1/s") = 1, b(min = -1, max = 5) = 0, idle = 5, s = 1, v[2] = {1, 1};
  parameter Real T = 1;
  parameter Integer n = 2;
  final parameter Real f = 3;
  Real x(start = 1, fixed = true, unit = "m"), y(unit = "m");
  Boolean high;
equation
  der(x) = -k*T*x;
  y = s*x + b + 0*v[1]*n;
  high = x > 100;
  annotation(experiment(StopTime = 2));
end Decay;
END_OF_MODEL

# data of k = 0.7, x(0) = 2, b = 0.3 behind the stop time of the model; holes of all kinds
python3 - <<'END_OF_PYTHON'
import math
f = lambda t, T=1, x0=2: x0*math.exp(-0.7*T*t) + 0.3
rows = [(0.25*i, f(0.25*i)) for i in range(21)]
open('data.csv', 'w').write('time,y\n' + ''.join('%r,%r\n' % r for r in rows))
open('holes.csv', 'w').write('t;y [m];x;n.o.\n' + ''.join(
    '%r;%s;%s;%d\n' % (t, '' if i % 3 == 1 else y, 'nan' if i % 2 else y - 0.3, i)
    for i, (t, y) in enumerate(rows)))
open('hot.csv', 'w').write('time,y\n' + ''.join('%r,%r\n' % (t, f(t, 3, 5)) for t, y in rows))
open('sigma.csv', 'w').write('time,y,sigma(y),x\n' + ''.join(
    '%r,%r,%s,%r\n' % (t, y + (9 if i == 4 else 0), 1e6 if i == 4 else 0.1, y - 0.3)
    for i, (t, y) in enumerate(rows)))
open('off.csv', 'w').write('time,y\n' + ''.join(
    '%r,%r\n' % (t, y + (2 if i in (3, 9) else 0)) for i, (t, y) in enumerate(rows)))
END_OF_PYTHON

# the table, with start values, units and the model's bounds
expect 0 fit decay.mo data.csv --fit k=0.1:10@3,x,b
says 'data      data.csv: 21 rows of 1 variable'
about k 0.7 1e-4
about x 2 1e-4
about b 0.3 1e-4
says '^  k  .* 1/s  *3  0.1 to 10$'
says '^  x (start)  .* m  *1 '
says '^  b  .* 0  -1 to 5$'
says '^  end       converged'
says 'observations 21, rank 3 of 3 parameters'

# units: values in others are converted, with their standard deviations; none are those of the model
sed 's/time,y/time [s],y [m\/s]/' data.csv >speed.csv
expect 2 fit decay.mo speed.csv --fit k
says "speed.csv: the column 'y' is in 'm/s', which cannot be converted to 'm'"
sed 's/time,y/time [m],y/' data.csv >long.csv
expect 2 fit decay.mo long.csv --fit k && says "long.csv: the column 'time' is in 'm', which cannot be converted to 's'"
sed 's/time,y/time [],y []/' data.csv >none.csv
expect 0 fit decay.mo none.csv --fit k,x,b
awk -F, 'NR == 1 { print "\"time [min]\",\"y [km]\",\"sigma(y)\",\"sigma(x) [mm]\",x [m]"; next }
    { printf "%.17g,%.17g,1e-4,100,%.17g\n", $1/60, $2/1000, $2 - 0.3 }' data.csv >km.csv
awk -F, 'NR == 1 { print "time,y,sigma(y),sigma(x),x"; next } { print $0 ",0.1,0.1," $2 - 0.3 }' data.csv >m.csv
for file in km m; do expect 0 fit decay.mo $file.csv --fit k,x,b -o $file.json; done
expect 0 fit decay.mo km.csv --fit k,x,b && says "km.csv: the times are in 'min': they become seconds"
python3 - <<'END_OF_PYTHON' || fail "units change what is found"
import json
a, b = (json.load(open(f + '.json'))['fit'] for f in ('km', 'm'))
for p, q in zip(a['parameters'], b['parameters']):
    assert abs(p['value'] - q['value']) < 1e-5 and abs(p['error'] - q['error']) < 1e-4*q['error'], (p, q)
END_OF_PYTHON

# published: Box and others (1973), sum of squares 19.87
expect 0 fit "$pinene" "$models/fit/pinene.csv" --fit th=0: -o p.json --set-file p.set
says '^  th\[1\]  *5.92.*e-05 '
says 'at least 0'
python3 - <<'END_OF_PYTHON' || fail "alpha-pinene is another"
import json
r = json.load(open('p.json'))
f = r['fit']
assert f['end'] == 'converged' and abs(2*f['cost'] - 19.87) < 0.006 and f['observations'] == 40
for p, exact in zip(f['parameters'], (5.93e-5, 2.96e-5, 2.05e-5, 27.5e-5, 4.00e-5)):
    assert abs(p['value'] - exact) < 0.006*exact, (p, exact)
    assert 0 < p['error'] < 0.3*exact and p['lower'] == 0 and p['upper'] is None
    assert not p['at_bound'] and not p['unidentified'] and p['kind'] == 'parameter'
assert len(f['correlation']) == 5 and all(abs(f['correlation'][i][i] - 1) < 1e-12 for i in range(5))
names = r['series']['names']
assert names[:2] == ['y1', 'data(y1)'] and len(names) == 10 and len(r['series']['t']) == 8
y = r['series']['y']
total = sum((a - b)**2 for k in range(0, 10, 2) for a, b in zip(y[k], y[k + 1]))
assert abs(total - 2*f['cost']) < 1e-4
END_OF_PYTHON
# rows before and after an event, as files of a run have them: what jumps is left out, and the rest tells
cat >dose.mo <<'END'
model Dose
  parameter Real k = 1, d = 2;
  Real c(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  der(c) = -k*c;
  der(y) = c - y;
  when {time >= 1, time >= 2} then
    reinit(c, pre(c) + d);
  end when;
  annotation(experiment(StopTime = 3));
end Dose;
END
expect 0 run dose.mo -o dose.csv --points 31
[ "$(cut -d, -f1 dose.csv | uniq -d | wc -l)" -eq 2 ] || fail "a jump has no two rows"
expect 0 fit dose.mo dose.csv --fit k@2,d@1 -o dose.json
says 'note .* c jumps at t = 1: its values there are left out, and so are those of other jumps'
python3 - <<'END_OF_PYTHON' || fail "a fit beside jumps"
import json
r = json.load(open('dose.json'))['fit']
assert all(abs(p['value'] - x) < 1e-4 for p, x in zip(r['parameters'], (1, 2))), r['parameters']
END_OF_PYTHON
# measurements that were repeated are no jumps
awk -F, 'NR == 1 { print } NR > 1 && int($1*10 + 0.5) % 10 { for (s = -1; s < 2; s += 2) printf "%s,%.17g,%s\n", $1, $2 + 0.01*s, $3 }' \
    dose.csv >twice.csv
expect 0 fit dose.mo twice.csv --fit k@2,d@1 && silent_on 'jumps' && says 'observations 108'

# a single row at the time of an event may stand for either side: it does not count
cat >sides.mo <<'END_OF_MODEL'
model Sides
  parameter Real p = 1;
  Real x(start = 0, fixed = true), y, z;
equation
  der(x) = p;
  y = if time >= 1 then x + 2 else x;
  z = if x >= 1 then x + 2 else x;
  annotation(experiment(StopTime = 2));
end Sides;
END_OF_MODEL
printf 'time,y\n0,0\n0.5,0.65\n1.0,1.3\n1.5,3.95\n2,4.6\n' >inner.csv
printf 'time,y\n0.25,0.325\n0.5,0.65\n1.0,1.3\n' >last.csv
printf 'time,z\n0.5,0.625\n0.8,3\n0.9,3.125\n2,4.5\n' >late.csv
printf 'time,z\n0.5,0.625\n0.8,1\n0.9,3.125\n2,4.5\n' >early.csv
for data in inner last; do
    expect 0 fit sides.mo $data.csv --fit p@1.1 && about p 1.3 1e-9
    says "note .*$data.csv:4: y jumps at t = 1: its values there are left out"
done
for data in early late; do
    for start in 1.1 1.4; do
        expect 0 fit sides.mo $data.csv --fit p@$start && about p 1.25 1e-9
        says "note .*$data.csv:3: z jumps at t = 0.8: its values there are left out"
    done
done
# beside it all rows do, and where nothing jumps
printf 'time,y\n0.5,0.65\n0.99,1.287\n1.01,3.313\n' >beside.csv
printf 'time,x\n0.5,0.65\n1,1.3\n1.5,1.95\n' >smooth.csv
for data in beside smooth; do
    expect 0 fit sides.mo $data.csv --fit p@1.1 && about p 1.3 1e-9 && silent_on 'jumps'
done

# the words are those of run
expect 0 run "$pinene" $(cat p.set) --vars y1 -o run.csv --quiet
python3 - <<'END_OF_PYTHON' || fail "run does not take the words of the fit"
import csv, math
last = list(csv.reader(open('run.csv')))[-1]
k = sum(float(line.split('=')[1]) for line in list(open('p.set'))[:2])
assert abs(float(last[1]) - 100*math.exp(-k*36420)) < 1e-5
END_OF_PYTHON

# missing values, other separators, units in the header, columns that are left out
expect 0 fit decay.mo holes.csv --fit k,x,b --ignore 'n*' -o h.csv
about k 0.7 1e-4
says 'observations 25,'
head -n 1 h.csv | grep -qF 'time [s],x [m],data(x) [m],y [m],data(y) [m]' || fail "the header is another"
grep -q nan h.csv || fail "missing values are not missing in the file"
# what was written can be read again; so can json, mat
expect 0 run decay.mo --set k=0.7 --set b=0.3 --start x=2 --points 9 --vars x,y -o d.json -o d.mat --quiet
for file in d.json d.mat; do
    expect 0 fit decay.mo $file --fit k,x,b
    about k 0.7 1e-3
    says 'observations 18,'
done

# several experiments with settings of their own: files have a column for them
expect 0 fit decay.mo data.csv:x=2 hot.csv:T=3,x=5 --fit k,b -o two.csv -o two.json
says 'hot.csv: 21 rows of 1 variable, T = 3, x = 5'
about k 0.7 1e-4
says 'observations 42, rank 2 of 2'
head -n 1 two.csv | grep -qF 'time [s],experiment,y [m],data(y) [m]' || fail "no column of experiments"
[ "$(grep -c ',2,' two.csv)" -ge 20 ] || fail "rows of the second experiment are missing"
# without the settings it is another
expect 0 fit decay.mo data.csv hot.csv --fit k,b
awk '$1 == "k" { exit !($2 > 0.6 && $2 < 0.8) }' out && fail "settings change nothing"


# standard deviations: a column of the file, a word for the others
expect 0 fit decay.mo sigma.csv --fit k,x,b --sigma x=0.2
about k 0.7 1e-4
expect 0 fit decay.mo sigma.csv --fit k,x,b --sigma '*=0.2'
about k 0.7 1e-4
expect 2 fit decay.mo sigma.csv --fit k,x,b
says "sigma.csv:2: x has no standard deviation, and others have"
# errors of known deviations do not follow the residuals, which are none
expect 0 fit decay.mo data.csv --fit b --set k=0.7 --start x=2 --sigma y=0.1 -o s.json --quiet
python3 -c "
import json, math
p = json.load(open('s.json'))['fit']['parameters'][0]
assert abs(p['error'] - 0.1/math.sqrt(21)) < 1e-6, p" || fail "the standard error is another"

# outliers
expect 0 fit decay.mo off.csv --fit k,x,b --loss cauchy --loss-scale 0.01
about k 0.7 1e-3
says '(cauchy)'
expect 0 fit decay.mo off.csv --fit k,x,b --loss huber --sigma y=0.01
about k 0.7 0.01

# bounds, what the data do not tell, correlations
expect 0 fit decay.mo data.csv --fit k=0.1:0.5@0.2,x,b
says '^  k  *0.5 .*, at the upper one'
expect 0 fit decay.mo data.csv --fit k,idle --set b=0.3 --start x=2
says 'idle has no effect on the data'
says '^  idle  *5  *not seen'
expect 6 fit decay.mo data.csv --fit idle
says 'idle has no effect on the data'
expect 0 fit decay.mo data.csv --fit s,x --set k=0.7 --set b=0.3
says 's, x cannot be told apart'

# events, index 3
python3 - <<'END_OF_PYTHON'
import math
def height(t, e=0.8, g=9.81):
    fall, v = math.sqrt(2/g), math.sqrt(2*g)
    if t <= fall: return 1 - g*t*t/2
    t, v = t - fall, e*v
    while t > 2*v/g: t, v = t - 2*v/g, e*v
    return v*t - g*t*t/2
open('ball.csv', 'w').write('time,h\n' + ''.join('%r,%r\n' % (0.12*i, height(0.12*i)) for i in range(12)))
END_OF_PYTHON
expect 0 fit "$models/ball.mo" ball.csv --fit e@0.7
about e 0.8 1e-4
says ' 0.7  0 to 1$'
expect 0 run "$models/pendulum.mo" --set L=1.3 --stop 3 --points 13 --vars x,y -o pend.csv --quiet --rtol 1e-9
expect 0 fit "$models/pendulum.mo" pend.csv --fit L=0.5:3 --rtol 1e-9
about L 1.3 1e-6

# pictures
if command -v gnuplot >/dev/null; then
    expect 0 fit decay.mo data.csv:x=2 hot.csv:T=3,x=5 --fit k,b --plot f.svg
    says 'wrote f.svg'
    grep -q 'y, 2: hot.csv' f.svg || fail "no curve of the second experiment"
    [ "$(grep -c 'gpPt6' f.svg)" -ge 40 ] || fail "no points of the data"
fi

# ends that are none: the best point is printed
expect 6 fit decay.mo data.csv --fit k@5,x@9,b --iterations 1
says 'the fit did not converge (iterations)'
says 'allow more with --iterations'
says '^  k '
expect 6 fit decay.mo data.csv --fit k@5,x@9,b --iterations 1 --quiet -o q.json
[ -s q.json ] && ! [ -s out ] || fail "--quiet prints, or writes nothing"

# a signal: the best point so far, files, and its code (a shell's background ignores Control-C)
cat >slow.mo <<'END_OF_MODEL'
model Slow
  parameter Real k = 1, a = 1;
  Real x[20](each start = 1, each fixed = true), y;
equation
  for i in 1:20 loop
    der(x[i]) = -k*i*x[i] + a*sin(20*time*i);
  end for;
  y = sum(x);
end Slow;
END_OF_MODEL
printf 'time,y\n1,0.3\n2,0.2\n4,0.1\n' >slow.csv
"$daedal" fit slow.mo slow.csv --fit k=0.01:,a -o slow.json --fit-tolerance 1e-300 --rtol 1e-9 >out 2>err &
process=$!
sleep 2
kill -TERM $process
wait $process
got=$?
if [ $got -eq 143 ] && grep -q 'best point so far' err && [ -s out ]; then
    says '^  k '
    says 'stopped before its end'
    [ -s slow.json ] || fail "the file is lost"
elif [ $got -ne 0 ] && [ $got -ne 6 ] && ! { [ $got -eq 143 ] && grep -q 'first run' err; }; then
    fail "an interrupted fit exits with $got"
fi

# what is wrong is named
expect 2 fit decay.mo data.csv
says "fit what? '--fit NAME=LOW:HIGH,..'"
expect 2 fit decay.mo --fit k
says "to which data?"
expect 2 fit decay.mo data.csv --fit kk
says "unknown parameter or variable 'kk'; did you mean 'k'?"
expect 2 fit decay.mo data.csv --fit k=1
says "option '--fit' needs NAME"
expect 2 fit decay.mo data.csv --fit k=a:2
says "not 'k=a:2'"
expect 2 fit decay.mo data.csv --fit k=2:1
says 'the first must be the smaller one'
expect 2 fit decay.mo data.csv --fit k=2:3
says 'outside of its bounds'
expect 2 fit decay.mo data.csv --fit k@x
expect 2 fit decay.mo data.csv --fit k,b,k
says "'k' stands twice in '--fit'"
expect 2 fit decay.mo data.csv --fit n
says "'n' cannot be fitted: it is"
expect 2 fit decay.mo data.csv --fit f
says "'f' cannot be fitted: it is final"
expect 2 fit decay.mo data.csv --fit high
says 'high'
expect 2 fit decay.mo holes.csv --fit k
says "'holes.csv' has a column 'n.o.', which is no variable of the model"
expect 2 fit decay.mo data.csv --fit k --ignore y
says "no column that is a variable"
expect 2 fit decay.mo data.csv --fit k --start-time 0.3
says 'data.csv:2: the time 0 lies before the start of the run, 0.3'
expect 2 fit decay.mo data.csv --fit k --stop 2
says "data.csv:11: the time 2.25 lies behind '--stop 2'"
expect 2 fit decay.mo data.csv:T --fit k
says "'T' behind 'data.csv:' is no setting NAME=NUMBER"
expect 2 fit decay.mo data.csv:Q=3 --fit k
says "unknown parameter or variable 'Q'"
expect 2 fit decay.mo data.csv:v=3 --fit k
says "'v' has several elements"
expect 2 fit decay.mo data.csv:k=3 --fit k
says "'k' is set for 'data.csv', and '--fit' varies it"
expect 2 fit decay.mo nothing.csv --fit k
says "'nothing.csv' cannot be read"
expect 2 fit decay.mo data.txt --fit k
says 'must end in .csv, .json or .mat'
expect 2 fit decay.mo data.csv --fit k --sigma y=0
says "X above 0"
expect 2 fit decay.mo data.csv --fit k --sigma y=abc
says "X above 0"
expect 2 fit decay.mo data.csv --fit k --sigma z=1
says "no measured variable is meant"
expect 2 fit decay.mo data.csv --fit k --loss absolute
says "unknown loss 'absolute' .see 'daedal help fit'"
expect 2 fit decay.mo data.csv --fit k -o data.csv
says "has the data; it is not overwritten"
expect 2 fit decay.mo data.csv --fit k --vars x
says "has no option '--vars'"
expect 2 fit robertson data.csv --fit k
says "'robertson' is built in"
expect 2 run decay.mo --fit k
says "option '--fit' is for 'daedal fit'"
expect 2 run decay.mo --sigma y=1
printf 'time,y\n0,1\n1,inf\n' >bad.csv
expect 2 fit decay.mo bad.csv --fit k
says 'bad.csv:3: y is not finite'
printf 'time,y,y\n0,1,1\n' >bad.csv
expect 2 fit decay.mo bad.csv --fit k
says "several columns 'y'"
printf 'time,y,sigma(y)\n0,1,1\n1,2,-1\n' >bad.csv
expect 2 fit decay.mo bad.csv --fit k
says 'bad.csv:3: the standard deviation of y is -1'
printf 'time,y\n0,\n1,nan\n' >bad.csv
expect 2 fit decay.mo bad.csv --fit k
says 'all data are missing'
printf 'time,y\n0,1\n1,two\n' >bad.csv
expect 2 fit decay.mo bad.csv --fit k
says 'bad.csv:3:3: "two" stands where a number belongs'
printf 'time,y\n1,1\n0,2\n' >bad.csv
expect 2 fit decay.mo bad.csv --fit k
says 'bad.csv:3:1: the time goes back'
printf 'time,high\n1,1\n' >bad.csv
expect 2 fit decay.mo bad.csv --fit k
says "a column 'high', which is no Real"
printf 'model F\n  parameter Real k = 1;\n  Real y(start = 1, fixed = true);\nequation\n  der(y) = -k*y;\n  assert(y > 0.9, "too low");\nend F;\n' >f.mo
expect 1 fit f.mo data.csv --fit k
says 'too low'

printf 'model L\n  parameter Real k = -0.5;\n  Real x(start = 1, fixed = true), y;\nequation\n  der(x) = -x;\n  y = log(k + x);\nend L;\n' >l.mo
expect 1 fit l.mo data.csv --fit k
says 'y is .*nan at t = 0.75, where the data have a value'

# decay.mo ends at 2: data behind it count, and are named
printf 'time,y\n0.5,0.6065\n2,0.1353\n2.5,0.0821\n3,0.0498\n' >late.csv
expect 0 fit decay.mo late.csv --fit k
says '^  note      late.csv:4: the time 2.5 lies behind 2, where the model ends (StopTime); runs go on to 3'
expect 2 fit decay.mo late.csv --fit k --stop 2
says "late.csv:4: the time 2.5 lies behind '--stop 2'"
expect 0 fit decay.mo late.csv --fit k --stop 3
if grep -q StopTime out err; then fail "data within --stop are named"; fi

expect 0 help fit
says 'usage: daedal fit MODEL FILE'
finish
