// A contact problem, (1.5) and (1.17) of [Wun05]: s is the place of the contact, a coordinate without
// mass. The same motion as models/cycloid.mo, with lambda = -N.
model CycloidEnergies "Bead on a cycloid in parametric form from its energies, index 3"
  parameter Real m(unit = "kg") = 2, g(unit = "m/s2") = 9.81, R(unit = "m") = 0.5;
  Real x(unit = "m", start = 0.9), y(unit = "m", start = 0.3);
  Real vx(unit = "m/s", start = 0, fixed = true), vy(unit = "m/s");
  Real s(unit = "rad", start = 1, fixed = true) "angle of the wheel that draws the curve";
  Real nu(unit = "N") "multiplier of the nearest point";
  Real lambda(unit = "N", start = -20) "minus the force of the curve on the bead";
equation
  der(x) = vx;
  der(y) = vy;
  (x - R*(s + sin(s)))*cos(s/2) + (y - R*(1 - cos(s)))*sin(s/2) = 0 "nearest point";
  (y - R*(1 - cos(s)))*cos(s/2) - (x - R*(s + sin(s)))*sin(s/2) = 0 "bead on the curve";
  annotation(
    experiment(StartTime = 0, StopTime = 5, Tolerance = 1e-7),
    __Daedal(
      coordinates = {x, y},
      massless = {s},
      kinetic = m/2*(vx^2 + vy^2),
      potential = m*g*y,
      multipliers = {nu, lambda}));
end CycloidEnergies;
