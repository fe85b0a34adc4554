// x + y = time^3 and 2 (x + y) = 0 agree at time 0, with their rates; later they do not.
model DrivenContradiction "Constraints that agree at the start only"
  parameter Real k = 1;
  Real x(start = 0, fixed = true), y(start = 0), vx(start = 1, fixed = true), vy, l1, l2;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -l1 - 2*l2;
  der(vy) = -l1 - 2*l2;
  x + y = k*time^3;
  2*(x + y) = 0;
end DrivenContradiction;
