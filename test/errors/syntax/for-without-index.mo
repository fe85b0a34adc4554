model M
  Real x, y;
equation
  for 1:3 loop
    x = 1;
  end for;
  y = ;
end M;
