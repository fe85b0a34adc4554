model M
  Real x, y;
equation
  x = 2 * -y;
  y = x^-1 + -2;
end M;
