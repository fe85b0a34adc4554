// Both coordinates are fixed, off the circle.
model InitialPosition "Fixed positions that violate the rod"
  parameter Real g = 1;
  Real x(start = 1, fixed = true); // fixed: x
  Real y(start = 0.5, fixed = true); // fixed: y
  Real vx, vy, lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - g;
  x^2 + y^2 = 1 "rod"; // culprit
end InitialPosition;
