model M
  Real a(start = 1), b, u, v, lambda, s;
  parameter Real p = 1;
equation
  der(a) = u;
  der(b) = v;
  annotation(__Daedal(coordinates = {a}, kinetic(m = 1) = u^2/2));
end M;
