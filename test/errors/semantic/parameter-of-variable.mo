model M
  Real x;
  parameter Real p = 2*x;
equation
  der(x) = p;
end M;
