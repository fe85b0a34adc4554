// The second line moves away from the first by exp(-1/t^2), which is zero with all derivatives at
// the start: only the run can tell.
model SlowContradiction "Constraints that part during the run, without an event"
  Real x(start = 0, fixed = true), y(start = 2), vx(start = 1, fixed = true), vy, l1, l2;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -l1 - 2*l2;
  der(vy) = -l1 - 2*l2;
  x + y = 2;
  2*(x + y) = 4 + noEvent(if time > 0.05 then exp(-1/time^2) else 0);
end SlowContradiction;
