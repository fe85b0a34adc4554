model M
  Real x = 1/0;
end M;
