model M
  Real x, y;
equation
  for i in 1:3
    x = i;
  end for;
end M;
