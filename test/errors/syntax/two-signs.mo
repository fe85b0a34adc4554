model M
  Real x, y;
equation
  x = y = 2;
end M;
