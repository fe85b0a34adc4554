model M
  Real x;
  Real y;
  Real z;
equation
  der(x) = y;
end M;
