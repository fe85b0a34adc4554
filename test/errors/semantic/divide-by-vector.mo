model M
  Real x[2] = {1, 2};
  Real y[2] = x/x;
end M;
