model M
  parameter Real m = 1;
  Real a(start = 1), b, c, u, v, w;
equation
  der(a) = u;
  der(b) = v;
  der(c) = w;
  annotation(__Daedal(coordinates = {a, b, c}, lagrangian = m*(u + v)^2/2 + w^2 - a^2 - b^2 - c^2));
end M;
