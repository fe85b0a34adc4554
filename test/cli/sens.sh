#!/bin/sh
# Test of `daedal sens`: sens.sh <path of daedal>. Exit 0 if nothing failed.
. "$(dirname "$0")/common.inc"
export XDG_CACHE_HOME="$work/cache"

silent() { [ -s out ] && fail "something is printed"; }

# x = x0 exp(-k t), z = c x: all in closed form
cat >decay.mo <<'END'
model Decay
  parameter Real k(unit = "1/s") = 2, x0(unit = "m") = 3, zero = 0, idle = 1;
  parameter Real c = 2*k, many[2] = {1, 1};
  parameter Integer n = 2;
  final parameter Real f = 3;
  Real x(start = x0, fixed = true, unit = "m"), z(unit = "m"), w[n];
  Boolean high;
equation
  der(x) = -k*x + zero;
  z = c*x;
  for i in 1:n loop
    w[i] = many[i]*x;
  end for;
  high = x > 1;
  annotation(experiment(StopTime = 2));
end Decay;
END

# the table: the largest first, what moves nothing, notes
expect 0 sens decay.mo --by k,x0,zero,idle --of x,high
says 'zero is 0; in relative derivatives it counts as 1'
says 'high is no Real'
says '^  x0  *3 m  *x  *1  0$'
says '^  k  *2 1/s  *x  *-0.367. *0.5'
says '^  idle  *1  *moves nothing'
awk '/^  x0/ { a = NR } /^  k / { b = NR } /^  idle/ { c = NR } END { exit !(a < b && b < c) }' out ||
    fail "not the largest first"

# delays: z = sum r^k (t - 0.25 - k tau), whose derivatives jump where echoes come back
expect 0 sens "$models/echo.mo" --by tau,r --of z -o - --points 2
tail -n 1 out | awk -F, '{ exit !(($3 + 1)^2 < 1e-12 && ($4 - 2.5)^2 < 1e-12) }' ||
    fail "derivatives by a delay time are wrong"
expect 0 sens "$models/echo.mo" --by tau --of s,z --stats
says '^last event at 2.25$'
says '^  its time by tau: 2$'

# rows: variables, then d(x)/d(k) with units, within 100 tolerances of the closed form
expect 0 sens decay.mo --by k,x --of x,z -o - --points 5 --rtol 1e-8
head -n 1 out | grep -qF 'time [s],x [m],z [m],d(x)/d(k) [m/(1/s)],d(x)/d(start(x)) [m/(m)],d(z)/d(k) [m/(1/s)],d(z)/d(start(x)) [m/(m)]' ||
    fail "the header is another"
python3 - <<'END' || fail "the derivatives are wrong"
import csv, math
for row in list(csv.reader(open('out')))[1:]:
    t, x, z, xk, x0, zk, z0 = map(float, row)
    e = math.exp(-2*t)
    for found, exact in ((x, 3*e), (xk, -3*t*e), (x0, e), (zk, 6*e - 12*t*e), (z0, 4*e)):
        assert abs(found - exact) <= 1e-6, (t, found, exact)
END

# relative: k/max|x| dx/dk, without units; other files; nothing on the terminal
expect 0 sens decay.mo --by k,zero --of x --relative -o r.csv --json r.json --output r.mat --quiet
silent
head -n 1 r.csv | grep -qF 'time [s],x [m],d(x)/d(k),d(x)/d(zero)' || fail "the header of r.csv is another"
python3 - <<'END' || fail "relative derivatives, or the json, are wrong"
import csv, json, math
rows = [list(map(float, row)) for row in list(csv.reader(open('r.csv')))[1:]]
assert len(rows) >= 501
for t, x, k, zero in rows:
    assert abs(k + 2*t*math.exp(-2*t)) <= 1e-4
    assert abs(zero - (1 - math.exp(-2*t))/2/3) <= 1e-4
r = json.load(open('r.json'))
s = r['sensitivities']
assert s['columns'] == 'relative' and r['series']['names'][1] == 'd(x)/d(k)'
assert abs(r['series']['y'][1][-1] - rows[-1][2]) < 1e-12
k = s['effects'][0]
assert k['name'] == 'k' and k['moves'] == 'x' and k['kind'] == 'parameter' and k['value'] == 2
assert abs(k['relative'] + math.exp(-1)) < 1e-4 and abs(k['time'] - 0.5) < 0.01
# x falls below 1 at log(3)/2: d/dk = -log(3)/k^2/... = -te/k
te = math.log(3)/2
assert abs(s['event_time'] - te) < 1e-4 and abs(k['event_derivative'] + te/2) < 1e-3
assert s['statistics']['events'] == 1 and s['statistics']['steps'] > 0
END
[ -s r.mat ] || fail "no r.mat"
expect 0 compare r.csv r.mat

# the last event among the statistics
expect 0 sens decay.mo --by k --stats
says 'last event at 0.5493'
says 'its time by k: -0.274'
says 'linearisations'

# arrays, patterns, several words
expect 0 sens decay.mo --by many --by 'x*'
says '^  many\[1\]'
says '^  many\[2\]'
says '^  x0 '
# a parameter that follows from another, beside it
expect 0 sens decay.mo --by k,c --of z -o - --points 3
python3 - <<'END' || fail "c follows k no more where both are asked for"
import csv, math
for row in list(csv.reader(open('out')))[1:]:
    t, z, k, c = map(float, row)
    assert abs(k - (6 - 12*t)*math.exp(-2*t)) < 1e-4 and abs(c - 3*math.exp(-2*t)) < 1e-4
END

# events, any index, options of run
expect 0 sens "$models/ball.mo" --by e,g,h0 --stop 1 --method bdf --rtol 1e-8
says "^  e .* h  *1.94"
expect 0 sens "$models/pendulum.mo" --by L,g,m --set g=2 --rtol 1e-8 -o p.csv
says 'wrote p.csv (501 rows, 20 variables)'
python3 - <<'END' || fail "the pendulum leaves its constraint"
import csv
for row in csv.DictReader(open('p.csv')):
    v = {name.split(' ')[0]: float(value) for name, value in row.items()}
    assert abs(2*v['x']*v['d(x)/d(L)'] + 2*v['y']*v['d(y)/d(L)'] - 2) <= 1e-12
END

# pictures
if command -v gnuplot >/dev/null; then
    expect 0 sens "$models/pendulum.mo" --by L,g,m --plot p.svg
    says 'wrote p.svg (4 variables by 3 parameters; --of and --by choose)'
    grep -q 'vy by L' p.svg || fail "no curve of vy by L"
    grep -q '>m<' p.svg || fail "no bar of m"
    expect 0 sens "$models/pendulum.mo" --by L,g --of x --plot p.svg --relative
    says 'wrote p.svg (1 variable by 2 parameters)'
    expect 0 sens decay.mo --by x0,idle --plot p.png
fi

# gradients: z at the end and its integral in closed form; through events they are those of trajectories
expect 0 sens decay.mo --by k,x0,idle,x --gradient 'z,integral(z)' --rtol 1e-8 -o g.csv --json g.json
says '^z = 0.2197'
says '^integral(z) = 5.890'
says '^  x (start)  *3 '
says 'wrote g.csv (8 derivatives)'
python3 - <<'END' || fail "the gradient is wrong"
import csv, json, math
e = math.exp(-4)
exact = {'z': (6*e - 24*e, 4*e, 0, 4*e), 'integral(z)': (12*e, 2*(1 - e), 0, 2*(1 - e))}
rows = list(csv.DictReader(open('g.csv')))
assert [r['by'] for r in rows[:4]] == ['k', 'x0', 'idle', 'x (start)'] and rows[3]['at'] == '3'
for i, row in enumerate(rows):
    assert abs(float(row['derivative']) - exact[row['of']][i % 4]) < 1e-6, row
j = json.load(open('g.json'))['gradients']
assert [g['of'] for g in j] == ['z', 'integral(z)'] and abs(j[1]['by'][1]['relative'] - 1) < 1e-6
END
awk '/^integral/ { on = 1 } on && /^  x0/ { a = NR } on && /^  k / { b = NR } on && /^  idle/ { c = NR } END { exit !(a < b && b < c) }' out ||
    fail "not the largest first"
expect 0 sens "$models/ball.mo" --by e,g,h0 --stop 1 --rtol 1e-8 --gradient h -o b.csv --quiet
silent
expect 0 sens "$models/ball.mo" --by e,g,h0 --stop 1 --rtol 1e-8 --of h -o t.csv --quiet
python3 - <<'END' || fail "the gradient of the ball is not that of its trajectories"
import csv
back = [float(r['derivative']) for r in csv.DictReader(open('b.csv'))]
forward = list(map(float, list(csv.reader(open('t.csv')))[-1]))[2:]
assert all(abs(a - b) <= 1e-6*max(1, abs(b)) for a, b in zip(back, forward)), (back, forward)
END
# the continuous adjoint has the same numbers, through events and for a multiplier, too
for what in "decay.mo:k,x0,x:z,integral(z):1" "$models/ball.mo:e,g,h0:h,integral(h):1" "$models/pendulum.mo:L,g:lambda,integral(x):2"; do
    IFS=: read -r model by of stop <<END
$what
END
    for kind in discrete continuous; do
        expect 0 sens "$model" --by "$by" --stop "$stop" --rtol 1e-8 --gradient "$of" --adjoint $kind -o $kind.csv --quiet
        silent
    done
    python3 - <<'END' || fail "the adjoints differ"
import csv
a, b = ([float(r['derivative']) for r in csv.DictReader(open(k + '.csv'))] for k in ('discrete', 'continuous'))
assert len(a) == len(b) >= 4 and a != b
assert all(abs(x - y) <= 1e-6*max(abs(x), 1e-3) for x, y in zip(a, b)), (a, b)
END
done
expect 2 sens decay.mo --by k --gradient z --adjoint both
says "unknown adjoint 'both'"
expect 2 sens decay.mo --by k --adjoint continuous
says "'--adjoint' says how '--gradient' is found"
expect 2 run decay.mo --adjoint continuous
says "option '--adjoint' is for 'daedal sens'"
# checkpoints, and files beyond the memory, change no bit; a memory that is too small is told by name
cat >chain.mo <<'END_OF_MODEL'
model Chain
  parameter Real k[20] = {1 + 0.1*i for i in 1:20};
  Real x[20](each start = 1, each fixed = true);
equation
  der(x[1]) = -k[1]*x[1]^2;
  for i in 2:20 loop
    der(x[i]) = k[i]*(x[i - 1] - x[i]*x[i]);
  end for;
  when x[3] < 0.3 then
    reinit(x[5], 1.5*pre(x[5]));
  end when;
  annotation(experiment(StopTime = 10));
end Chain;
END_OF_MODEL
chain() { # FILE OPTION ..
    file=$1
    shift
    expect 0 sens chain.mo --by '*' --method radau --gradient 'x[20],integral(x[7])' -o "$file" --quiet "$@"
    silent
}
chain all.csv --adjoint continuous
chain few.csv --adjoint continuous --checkpoints 3 --memory 2.5e5
chain file.csv --adjoint continuous --memory 1
cmp -s all.csv few.csv || fail 'checkpoints change the gradient'
cmp -s all.csv file.csv || fail 'a file of values changes the gradient'
chain discrete.csv
chain filed.csv --memory 1
cmp -s discrete.csv filed.csv || fail 'a file of equations changes the gradient'
expect 1 sens chain.mo --by '*' --method radau --gradient 'x[20]' --adjoint continuous --checkpoints 3 --memory 1
says 'memory = 1 bytes is too little for checkpoints = 3'
for bad in 1 0 -2 2.5 many; do
    expect 2 sens chain.mo --by '*' --gradient 'x[20]' --adjoint continuous --checkpoints $bad
    says "option '--checkpoints' needs a whole number from 2 to .*, not '$bad'"
done
expect 2 sens chain.mo --by '*' --gradient 'x[20]' --checkpoints 3
says "option '--checkpoints' is for '--adjoint continuous'"
expect 2 sens chain.mo --by '*' --gradient 'x[20]' --memory 0
says "option '--memory' needs a finite number above 0, not '0'"
expect 2 sens chain.mo --by '*' --checkpoints 3
says "'--checkpoints' says how '--gradient' is found"
expect 2 sens chain.mo --by '*' --memory 1e6
says "'--memory' says how '--gradient' is found"
expect 2 run chain.mo --checkpoints 3
says "option '--checkpoints' is for 'daedal sens'"
expect 2 sens "$models/pendulum.mo" --by L --gradient x --adjoint continuous --checkpoints 3
says 'are for runs on equations of index 1'
expect 2 sens decay.mo --by k --gradient 'z^2'
says "unknown variable 'z^2'"
expect 2 sens decay.mo --by k --gradient high
says "'high' is no Real"
expect 2 sens decay.mo --by k --gradient z --relative
says "relative is for trajectories"
expect 2 run decay.mo --gradient z
says "option '--gradient' is for 'daedal sens'"

# what is wrong is named
expect 2 sens decay.mo
says "by what? '--by NAME,..' takes start values of variables, and the parameters k, x0, zero, idle, c, many\[1\], many\[2\]"
expect 2 sens decay.mo --by xo
says "unknown parameter or variable 'xo'; did you mean 'x0'?"
expect 2 sens decay.mo --by n
says 'parameter n is no Real'
expect 2 sens decay.mo --by f
says 'parameter f is final'
expect 2 sens decay.mo --by high
says 'variable high is discrete'
expect 2 sens decay.mo --by k,x0,k
says "'k' stands twice in '--by'"
expect 2 sens decay.mo --by 'q*'
says "fits 'q\*'"
expect 2 sens decay.mo --by k --of nothing
says "unknown variable 'nothing'"
expect 2 sens decay.mo --by k --of 'der(x)'
says "'der(x)' is a derivative by time"
expect 2 sens decay.mo --by k --of high
says 'no Real variable is chosen'
expect 2 sens robertson --by k
says "'robertson' is built in"
expect 2 sens decay.mo --by k --verify
says "option '--verify' is for 'daedal verify'"
expect 2 run decay.mo --by k
says "option '--by' is for 'daedal sens'"
expect 2 run decay.mo --relative
expect 2 verify decay.mo --of x
expect 2 sens "$models/echo.mo" --by tau --gradient z
says 'the model has a delay (line 10)'
says 'forward sensitivities'
printf 'model S\n  parameter Real s = 1;\n  Real x(start = 1, fixed = true);\nequation\n  if s > 0 then\n    der(x) = -x;\n  else\n    der(x) = x;\n    x = 1;\n  end if;\nend S;\n' >s.mo
expect 2 sens s.mo --by s
says 'parameter s is structural'
printf 'model N\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -x;\nend N;\n' >n.mo
expect 2 sens n.mo
says "'N' has no Real parameter that can move"
expect 0 sens n.mo --by x
says 'x (start)'

# fixed start values that contradict each other once they move; a gradient's random mixture is no number to show
printf 'model E\n  parameter Real a = 0.6, b = 2;\n  Real x(start = a, fixed = true), y(start = 0.8, fixed = true);\nequation\n  der(x) = -b*y;\n  x^2 + y^2 = 1;\nend E;\n' >e.mo
expect 1 sens e.mo --by a,b --stop 0.1
says 'fixed start value of y would move by 0, .* move by -0.75'
expect 1 sens e.mo --by a,b --stop 0.1 --gradient x
says 'fixed start value of y would move otherwise than'

# a run that fails still shows and writes what it reached
printf 'model F\n  parameter Real k = 1;\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -k*x;\n  assert(x > 0.5, "too low");\n  annotation(experiment(StopTime = 2));\nend F;\n' >f.mo
expect 1 sens f.mo --by k -o f.csv
says 'too low'
says '^  k '
[ -s f.csv ] || fail "nothing of f.csv is written"

# the corrector: a derivative that a run by long steps does not need, at one time and at all of them
printf 'model C\n  parameter Real a = 0;\n  Real x(start = 0, fixed = true);\nequation\n  der(x) = a*sin(10*time);\n  annotation(experiment(StopTime = 10));\nend C;\n' >c.mo
expect 0 sens c.mo --by a --corrector simultaneous --stats
expect 0 sens c.mo --by a --corrector staggered --stats
expect 2 sens c.mo --by a --corrector both
says "corrector"
expect 2 run c.mo --corrector staggered
says "is for 'daedal sens'"
expect 2 sens c.mo --by a --gradient x --corrector staggered

expect 0 help sens
says 'usage: daedal sens MODEL --by NAME'
finish
