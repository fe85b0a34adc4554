model M
  Real x;
  parameter Real p = 1;
algorithm
  p := 2;
  x := true;
end M;
