model M
  Real x, y;
equation
  if x = 1 then
    y = 1;
  else
    y = 2;
  end if;
  x = if y = 2 then 1 else 0;
end M;
