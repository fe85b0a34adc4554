model M
  Real x, y;
equation
  x = if y > 1 && x < 2 || !(x != 3) then 1 else 2;
  x = y % 2;
  y = x ** 2;
end M;
