model M
  Real x, y;
equation
  x = 1 + if y > 1 then 2 else 3;
end M;
