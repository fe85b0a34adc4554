model M
  Real x, y;
equation
  x = if y > 1 then 2;
end M;
