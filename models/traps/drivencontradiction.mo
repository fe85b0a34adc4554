// x = time^3 and 2 x = 0 agree at time 0, with their rates and accelerations; later they do not.
model DrivenContradiction "Constraints that agree at the start only"
  parameter Real k = 1;
  Real x(start = 0), y(start = 1), vx, vy, l1, l2;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -l1 - 2*l2;
  der(vy) = -y;
  x = k*time^3;
  2*x = 0;
end DrivenContradiction;
