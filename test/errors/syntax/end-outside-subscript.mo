model M
  Real x, y;
equation
  x = end + 1;
end M;
