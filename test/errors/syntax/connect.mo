model M
  Real x, y;
equation
  connect(a.p, b.n);
  x = 1;
  y = 2 +;
end M;
