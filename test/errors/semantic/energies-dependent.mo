model M
  Real a(start = 1), u, s, speed;
equation
  der(a) = u;
  sin(s) + s = a;
  speed = der(s);
  annotation(__Daedal(coordinates = {a}, kinetic = u^2/2, potential = s^2));
end M;
