model M
  Real x;
  Integer k = integer(time);
equation
  for i in 1:k loop
    x = i;
  end for;
end M;
