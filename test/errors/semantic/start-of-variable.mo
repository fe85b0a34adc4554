model M
  Real y = 2;
  Real x(start = y);
equation
  der(x) = 1;
end M;
