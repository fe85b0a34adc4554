// The second line moves away from the first by exp(-1/t^2), which is zero with all derivatives at
// the start: only the run can tell.
model SlowContradiction "Constraints that part during the run, without an event"
  Real x(start = 0), y(start = 1, fixed = true), vx, vy(start = 0, fixed = true), l1, l2;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -l1 - 2*l2;
  der(vy) = -y;
  x = 0;
  2*x = noEvent(if time > 0.05 then exp(-1/time^2) else 0);
end SlowContradiction;
