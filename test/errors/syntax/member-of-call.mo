model M
  Real x, y;
equation
  x = f(1).re;
end M;
