model M
  Real v(unit = "V");
  Real i(unit = "A");
  Real p(unit = "W");
  parameter Real R(unit = "Ohm") = 2;
  Real a(unit = "rad");
  Real t(unit = "ms") = time;
  Boolean b = v > i;
equation
  v = i + R;
  p = v*i;
  i = v*R;
  der(a) = sin(v);
  missing = 1;
end M;
