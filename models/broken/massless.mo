// Without a mass the equations of motion are statements on the force alone, lambda x = 0 and
// lambda y = -g: the rod can only hang, y = -1.
model Massless "Pendulum without a mass"
  parameter Real m = 0, g = 1;
  Real x(start = 0.6);
  Real y(start = -0.8, fixed = true); // fixed: y
  Real vx, vy, lambda;
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -lambda*x; // culprit
  m*der(vy) = -lambda*y - g; // culprit
  x^2 + y^2 = 1 "rod"; // culprit
end Massless;
