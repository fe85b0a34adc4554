model M
  Real x, y;
equation
  if x > 1 then
    y = 1;
  end for;
  x = 1 +;
end M;
