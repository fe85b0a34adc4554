model M
  Real x, y;
equation
  x = y + ;
  y = 2 * ;
end M;
