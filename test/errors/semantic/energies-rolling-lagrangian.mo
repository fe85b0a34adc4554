model M
  Real a(start = 1), b, u, v, lambda, s;
  parameter Real p = 1;
equation
  der(a) = u;
  der(b) = v;
  annotation(__Daedal(coordinates = {a, b}, lagrangian = (u^2 + v^2)/2 - lambda*(u - a*v), multipliers = {lambda}));
end M;
