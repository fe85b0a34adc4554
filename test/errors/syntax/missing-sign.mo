model M
  Real x, y;
equation
  x y;
  x + y;
end M;
