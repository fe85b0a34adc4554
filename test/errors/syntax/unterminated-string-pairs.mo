model M
  parameter Real a = 1 "mass;
  parameter Real b = 2 "length";
  Real x;
equation
  x = 1;
end M;
