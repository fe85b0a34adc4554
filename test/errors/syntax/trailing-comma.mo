model M
  Real x, y;
equation
  x = sin(y, );
  y = f(a = 1, 2);
end M;
