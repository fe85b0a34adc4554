model M
  Real x, y;
equation
  if x > 1 then
    y = 1;
  else
    y = 2;
  else
    y = 3;
  end if;
end M;
