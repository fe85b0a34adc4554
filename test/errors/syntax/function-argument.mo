model M
  Real x, y, z;
equation
  x = integrate(function f(1), 0, 1);
  y = 2 +;
  z = integrate(function 3, 0, 1);
end M;
