model M
  Real x(start 0);
  Real y(start = 1;
  Real z(1 = start);
equation
  x = 1;
end M;
