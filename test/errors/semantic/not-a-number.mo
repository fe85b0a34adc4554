model M
  constant Real a = log(-1);
  parameter Real b = (-8)^(1/3);
  parameter Integer n = 2;
  Real c = asin(n*0 + 2) + sqrt(-1);
  Real d = exp(1000);
  Real e = 1/(n - n) + 1/(3 - 3);
  Real f = if time > 1 then sqrt(-2) else 1;
equation
  missing = 0;
end M;
