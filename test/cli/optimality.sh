#!/bin/sh
# Test of `daedal emit --format conditions`: optimality.sh <path of daedal>. Exit 0 if nothing failed.
. "$(dirname "$0")/common.inc"
export XDG_CACHE_HOME="$work/cache"

cat >tank.mo <<'END'
model Tank
  parameter Real a = 1;
  input Real u(start = 0);
  Real x(start = 1, fixed = true);
equation
  der(x) = -a*x + u;
  annotation(experiment(StopTime = 1));
end Tank;
END

# the conditions can be read, and solved: tanh(r)/(r + tanh(r)), r = sqrt(2)
expect 0 emit tank.mo --format conditions --control u --integral '(x^2 + u^2)/2'
says 'der(lambda_x) = '
says '"stationary in u"'
says 'terminal = {lambda_x == 0}'
expect 0 emit tank.mo --format conditions --control u --integral '(x^2 + u^2)/2' -o conditions.mo
expect 0 bvp conditions.mo
says 'lambda_x     0.3858185962'

# parameters, conditions at the end and a parameter that is chosen
expect 0 emit tank.mo --format conditions --control u --integral 'u^2' --at-end 'a^2' --end 'x = 0' --free a --set a=2
says 'Real a(start = 2)'
says 'x == 0'

# what is not right is named
expect 2 emit tank.mo --format conditions --control w --integral 'x^2'
says 'no input w'
expect 2 emit tank.mo --format conditions --control u
says 'nothing is to be minimised'
expect 2 emit tank.mo --format conditions --integral 'x^2'
says 'nothing is to be chosen'
expect 2 emit tank.mo --control u --integral 'x^2'
says "belong to '--format conditions'"
expect 2 emit tank.mo --format conditions --control u --integral 'z^2'
says "z"
expect 1 emit tank.mo --format conditions --control u --at-end 'x'
says 'do not determine u'
expect 2 emit tank.mo --format pascal
says 'c, modelica or conditions'
finish
