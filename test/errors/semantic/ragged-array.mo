model M
  Real x[2, 2] = {{1, 2}, {3}};
end M;
