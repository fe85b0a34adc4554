model M
  Real x;
algorithm
  x + 1 := 2;
end M;
