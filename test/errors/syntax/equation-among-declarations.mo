model M
  Real x, y;
  x = 1;
  der(y) = 2;
end M;
