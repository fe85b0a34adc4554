model M
  Real x[2] = {1, true};
end M;
