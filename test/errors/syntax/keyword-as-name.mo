model M
  Real end;
  Real initial;
  parameter Real type = 1;
  Real x;
equation
  x = 1;
end M;
