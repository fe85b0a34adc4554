model SameUnknowns "the law of the gas is written twice"
  parameter Real R = 287, V = 0.1, cv = 718;
  Real mass(start = 0.1), T(start = 300), p = mass*R*T/V, mdot;
equation
  der(mass) = -mdot;
  mdot = 1e-7*(p - 1e5);
  p*V = mass*R*T;
  mass*cv*der(T) = -mdot*R*T;
end SameUnknowns;
