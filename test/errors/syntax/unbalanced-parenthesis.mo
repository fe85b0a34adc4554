model M
  Real x, y;
equation
  x = (1 + y;
  y = sin(x;
end M;
