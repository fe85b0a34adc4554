// All that the complex form (1.18) of [Wun05] has: positions x and y, a dynamical force element r, an
// auxiliary variable w, the place s of a contact, and multipliers. The way along the curve, 4 R
// sin(s/2), obeys a linear equation of third order.
model ComplexEnergies "Bead on a cycloid with a force that lags behind its speed, index 3"
  parameter Real m(unit = "kg") = 2, g(unit = "m/s2") = 9.81, R(unit = "m") = 0.5;
  parameter Real k(unit = "N.s/m") = 1.5 "force by speed", tau(unit = "s") = 0.3 "lag";
  Real x(unit = "m", start = 0.9), y(unit = "m", start = 0.3);
  Real vx(unit = "m/s", start = 0, fixed = true), vy(unit = "m/s");
  Real r(unit = "m/s", start = 0, fixed = true) "speed that the force is of";
  Real w(unit = "m/s") "speed along the curve";
  Real s(unit = "rad", start = 1, fixed = true) "angle of the wheel that draws the curve";
  Real nu(unit = "N"), lambda(unit = "N", start = -20);
equation
  der(x) = vx;
  der(y) = vy;
  tau*der(r) = w - r;
  w - vx*cos(s/2) - vy*sin(s/2) = 0;
  (x - R*(s + sin(s)))*cos(s/2) + (y - R*(1 - cos(s)))*sin(s/2) = 0 "nearest point";
  (y - R*(1 - cos(s)))*cos(s/2) - (x - R*(s + sin(s)))*sin(s/2) = 0 "bead on the curve";
  annotation(
    experiment(StartTime = 0, StopTime = 5, Tolerance = 1e-7),
    __Daedal(
      coordinates = {x, y},
      massless = {s},
      kinetic = m/2*(vx^2 + vy^2),
      potential = m*g*y,
      forces(x = -k*r*cos(s/2), y = -k*r*sin(s/2)),
      multipliers = {nu, lambda}));
end ComplexEnergies;
