model ForeignNames "what other languages call it"
  Real x(start = 1, fixed = true), y, z;
equation
  dx/dt = -x;
  y = ln(x) + pow(x, 2);
  z = e*sin(t) + arcsin(x);
end ForeignNames;
