model M
  Real x, y;
equation
  for i in 1:3 loop
    if x > i then
      y = 1;
    end for;
  end if;
end M;
