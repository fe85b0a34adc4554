model M
  Real x, y;
equation
  x = if 1 < y < 2 then 1 else 2;
  y = x^2^3;
end M;
