model M
  Real x, y;
equation
  x = 1;
  Real z;
  parameter Real p = 2;
  y = ;
end M;
