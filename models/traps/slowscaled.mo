// The second line moves away from the first by k exp(-1/t^2): only the run can tell.
model SlowScaled "Small constraints that part during the run"
  parameter Real S = 1e-6, k = 0.3;
  Real x(start = 0, fixed = true), y(start = 2*S), vx(start = S, fixed = true), vy, l1, l2;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -l1 - 2*l2;
  der(vy) = -l1 - 2*l2;
  x + y = 2*S;
  2*(x + y) = S*(4 + k*noEvent(if time > 0.05 then exp(-1/time^2) else 0));
end SlowScaled;
