model M
  Real x[3];
  Real y;
equation
  x = {1, 2};
  y = x;
end M;
