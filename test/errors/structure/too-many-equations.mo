model M
  Real x;
  parameter Real p = 1;
equation
  der(x) = 1;
  x = 2;
  2*p = 3;
end M;
