model M
  Real x, y;
equation
  x = if y > 1 & x < 2 then 1 else 2;
  y = x => 3;
  y = a->b;
  x = y > 1 ? 2 : 3;
end M;
