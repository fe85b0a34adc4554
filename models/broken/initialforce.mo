// At rest at (1, 0) the rod carries no force; its force follows from the second derivative.
model InitialForce "A fixed force that the motion does not allow"
  parameter Real g = 1;
  Real x(start = 1);
  Real y(start = 0, fixed = true); // fixed: y
  Real vx;
  Real vy(start = 0, fixed = true); // fixed: vy
  Real lambda(start = 5, fixed = true); // fixed: lambda
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x; // culprit
  der(vy) = -lambda*y - g;
  x^2 + y^2 = 1 "rod, with both derivatives"; // culprit
end InitialForce;
