model M
  Real a(start = 1), b, u, v, lambda, s;
  parameter Real p = 1;
equation
  der(a) = u;
  der(b) = v;
  sin(s) + s = a;
  annotation(__Daedal(coordinates = {a}, kinetic = u^2/2, potential = s));
end M;
