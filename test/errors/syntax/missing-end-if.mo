model M
  Real x, y;
equation
  if x > 1 then
    y = 1;
  x = 2;
end M;
