// The equation has no unknown at all, and z has no equation.
model NoEquation "An equation without an unknown, an unknown without an equation"
  parameter Real a = 2, b = 3;
  Real x(start = 1, fixed = true), z;
equation
  der(x) = -x;
  a^2 = b; // culprit
end NoEquation;
