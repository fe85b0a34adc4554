model M
  Real x, y;
equation
  x == 1;
end M;
