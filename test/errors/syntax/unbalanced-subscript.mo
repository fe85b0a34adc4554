model M
  Real x[2], y;
equation
  x[1 = 2;
  y = 2 +;
end M;
