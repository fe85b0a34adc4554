function f
  input Real x;
  output Real y;
algorithm
  y := x;
end f;
function g = der(f, x);
model M
  Real x = g(1);
end M;
