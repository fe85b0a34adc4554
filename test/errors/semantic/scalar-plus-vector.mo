model M
  Real x[2] = {1, 2};
  Real z[2] = x + 1;
end M;
