// The rod and its derivative are both constraints with a force of their own along the rod: only
// the sum of the forces matters.
model TwoMultipliers "Pendulum with a constraint said twice"
  parameter Real g = 1;
  Real x(start = 1), y(start = 0), vx(start = 0), vy(start = 0);
  Real lambda, mu;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x - mu*x;
  der(vy) = -lambda*y - mu*y - g;
  x^2 + y^2 = 1 "rod";
  x*vx + y*vy = 0 "its derivative";
end TwoMultipliers;
