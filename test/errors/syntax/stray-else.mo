model M
  Real x, y;
equation
  x = 1;
  else
  y = 2 +;
end M;
