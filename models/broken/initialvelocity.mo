// At y = 0 the rod points along x, and the velocity has to be upright.
model InitialVelocity "A fixed velocity that is not tangent to the circle"
  parameter Real g = 1;
  Real x(start = 1);
  Real y(start = 0, fixed = true); // fixed: y
  Real vx(start = 1, fixed = true); // fixed: vx
  Real vy, lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = 1 "rod, with its first derivative"; // culprit
end InitialVelocity;
