model M
  parameter Real a(fixed=false), b;
  Real x(start=0, fixed=true);
initial algorithm
  a := 2;
  b := 3;
equation
  der(x) = a + b;
end M;
