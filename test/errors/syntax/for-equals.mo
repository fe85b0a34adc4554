model M
  Real x, y;
equation
  for i = 1:3 loop
    x = i;
  end for;
end M;
