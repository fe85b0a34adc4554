// Without a mass the two equations of motion are two statements on the force alone.
model Massless "Pendulum without a mass"
  parameter Real m = 0, g = 1;
  Real x(start = 0.6), y(start = -0.8, fixed = true), vx, vy(start = 0, fixed = true), lambda;
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -lambda*x; // culprit
  m*der(vy) = -lambda*y - g; // culprit
  x^2 + y^2 = 1 "rod";
end Massless;
