model M
  Real x;
  Real y;
equation
  if time > 1 then
    x = 1;
  else
    x = 2;
    y = 3;
  end if;
end M;
