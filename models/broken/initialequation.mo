// x and y are fixed, and the initial equation wants another sum.
model InitialEquation "An initial equation against fixed values"
  Real x(start = 1, fixed = true); // fixed: x
  Real y(start = 1, fixed = true); // fixed: y
  Real z(start = 0);
initial equation
  x + y = 3; // culprit
equation
  der(x) = -x;
  der(y) = -y;
  der(z) = x*y;
end InitialEquation;
