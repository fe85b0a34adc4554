model M
  Real x, y;
equation
  x = sin(
    y +
    cos(2;
  y = 1;
end M;
