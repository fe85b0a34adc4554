model M
  Real x, y, é;
equation
  x = y − 1;
  é = 2;
  x = 2·y;
  y = “a”;
  y = x ≤ 2;
end M;
