model M
  Real x[2] = {1, 2};
  Real y[3] = {1, 2, 3};
  Real z[2] = x + y;
end M;
