model M
  Real x, y;
equation
  x = integrate(function f(a = 1), 0, 1);
  y = 2 +;
end M;
