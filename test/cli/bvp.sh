#!/bin/sh
# Test of `daedal bvp`: bvp.sh <path of daedal>. Exit 0 if nothing failed.
. "$(dirname "$0")/common.inc"
export XDG_CACHE_HOME="$work/cache"

cat >bratu.mo <<'END'
model Bratu
  parameter Real lambda = 1;
  Real u(start = 0, fixed = true);
  Real v(start = 0);
equation
  der(u) = v;
  der(v) = -lambda*exp(u);
  annotation(experiment(StopTime = 1), __Daedal(terminal = {u == 0}));
end Bratu;
END
cat >string.mo <<'END'
model String
  parameter Real k = 8;
  Real u(start = 0, fixed = true);
  Real v(start = 1, fixed = true);
equation
  der(u) = v;
  der(v) = -k*u;
  annotation(experiment(StopTime = 1));
end String;
END

# both solutions of Bratu's problem: u'(0) = 0.549352729 and 10.846899019
expect 0 bvp bratu.mo
says '^  v  *0.54935272'
says '1 condition at the start, 1 at the end'
expect 0 bvp bratu.mo --start v=10.5 --guess simulate -o upper.csv --plot upper.svg
says '^  v  *10.84689'
[ -s upper.csv ] && [ -s upper.svg ] || fail "no files"
# .. and the second one from a file
expect 0 bvp bratu.mo --guess upper.csv -o - --points 3
awk -F, 'NR == 3 && ($2 < 4.091466 || $2 > 4.091468) { exit 1 }' out || fail "not the upper solution"

# an eigenvalue: pi^2
expect 0 bvp string.mo --end 'u = 0' --free k --stats
says '^  k = 9.8696044'
says 'factorisations'
expect 0 bvp string.mo --end 'u = 0' --free k --quiet -o s.json
[ -s out ] && fail "something is printed"
grep -q '"names": \["u","v"\]' s.json || fail "no json"

# other methods
expect 0 bvp bratu.mo --method radau --stages 3
says 'collocation at 3 Radau points'
says '^  v  *0.54935'
expect 0 bvp bratu.mo --method shooting --intervals 5
says 'multiple shooting, 5 intervals'
says '^  v  *0.54935272'
cat >chain.mo <<'END'
model Chain
  Real a(start = 0, fixed = true), b, c, z;
equation
  der(a) = b;
  der(b) = a + 2*z;
  a + c = time;
  der(c) = z;
  annotation(experiment(StopTime = 1), __Daedal(terminal = {a == 1}));
end Chain;
END
expect 0 bvp chain.mo --method projected --stages 2
says 'projected collocation at 2 Gauss points'
says '^  b  *0.77605'
expect 0 bvp chain.mo --method projected-radau
says '^  b  *0.77605'
expect 2 bvp bratu.mo --method shooting --stages 3
says 'shooting has no collocation points'
expect 2 bvp bratu.mo --stages 6
says 'stages = 6'
expect 2 run bratu.mo --stages 3
says "'--stages' is for 'daedal bvp'"

# u'' = -pi^2 u with u = 0 at both ends: all c sin(pi t) are solutions
cat >sine.mo <<'END'
model Sine
  Real u(start = 0, fixed = true);
  Real v(start = 1);
equation
  der(u) = v;
  der(v) = -9.869604401089358*u;
  annotation(experiment(StopTime = 1), __Daedal(terminal = {u == 0}));
end Sine;
END
for m in gauss radau shooting; do
    expect 0 bvp sine.mo --method $m
    says 'determine the solution up to rounding only'
    expect 0 bvp bratu.mo --method $m
    grep -q rounding out && fail "$m: a regular problem is said to be singular"
done

# rows at the mesh
expect 0 bvp bratu.mo --interval 0 -o -
[ "$(wc -l <out)" -eq 22 ] || fail "20 intervals have 21 rows"

# a model that is written out has its conditions
expect 0 emit bratu.mo --format modelica -o flat.mo
expect 0 bvp flat.mo
says '^  v  *0.54935272'

# what is wrong is named
expect 2 bvp bratu.mo --end 'v = 1'
says '1 condition too many'
says 'v = 1'
expect 2 bvp string.mo --free k
says '1 condition missing'
expect 2 bvp bratu.mo --end 'v'
says "'v' is not of the form left = right"
expect 2 bvp bratu.mo --end 'w = 1'
says "'w' is not declared"
expect 2 bvp bratu.mo --free q
says 'no parameter q'
expect 2 bvp bratu.mo --method bdf
says "'bdf' is none of 'daedal bvp'; there are gauss, radau, shooting"
expect 2 bvp bratu.mo --order 3
says "'--order' is not one of 'daedal bvp'"
expect 2 bvp bratu.mo --guess nothing.csv
says 'guess'
expect 2 run bratu.mo --end 'u = 0'
says "'--end' is for 'daedal bvp'"
expect 1 bvp bratu.mo --set lambda=4
says 'does not converge'
says 'There may be no solution'
# a layer at the end, which Radau points do not see: another method is named
cat >layer.mo <<'END'
model Layer
  Real y(start = 1, fixed = true), v;
equation
  der(y) = v;
  1e-4*der(v) = v;
  annotation(experiment(StopTime = 1), __Daedal(terminal = {y == 0}));
end Layer;
END
expect 1 bvp layer.mo --method radau
says 'take Gauss points (method gauss)'
cat >both.mo <<'END'
model Both
  Real x(start = 0, fixed = true), y;
equation
  der(x) = -1e4*(x - cos(time));
  der(y) = 1e4*(y - sin(time));
  annotation(experiment(StopTime = 1), __Daedal(terminal = {y == 2}));
end Both;
END
expect 1 bvp both.mo --method radau --max-intervals 100
says 'take Gauss points (method gauss)'
expect 0 bvp layer.mo
says '^  v  .* -10000 '
# a throw of 1 s rises to 10/8: what forbids that is named, whatever the method; a max is told
cat >high.mo <<'END'
model High
  parameter Real most = 1;
  Real y(start = 0, fixed = true, max = 1.1), v(start = 1);
equation
  der(y) = v;
  der(v) = -10;
  assert(y < most, "too high");
  annotation(experiment(StopTime = 1), __Daedal(terminal = {y == 0}));
end High;
END
for m in gauss shooting; do
    expect 1 bvp high.mo --method $m
    says 'assertion failed .*too high'
    ends 0 bvp high.mo --method $m --set most=2
    says 'warning: y = 1.1.* lies above its max = 1.1'
done
# Emden's equation is singular at 0: y = 1/sqrt(1 + t^2/3) from its series a little later
cat >emden.mo <<'END'
model Emden
  Real y(start = 1), v;
initial equation
  v = -time*y^5/3;
equation
  der(y) = v;
  time*der(v) = -2*v - time*y^5;
  annotation(experiment(StopTime = 1), __Daedal(terminal = {y == sqrt(3)/2}));
end Emden;
END
expect 2 bvp emden.mo
says 'begin a little later'
expect 0 bvp emden.mo --start-time 1e-3
says '^  y  *0.999999833'
says ' -0.21650635'
# limits of intervals are kept
expect 1 bvp bratu.mo --max-intervals 3
says 'the limit of 3'
finish
