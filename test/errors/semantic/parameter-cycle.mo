model M
  parameter Real a = b;
  parameter Real b = 2*c;
  parameter Real c = a;
  Real x = a;
end M;
