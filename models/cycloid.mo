// The curve is in parametric form: s is where it is nearest to the bead, found by an equation of its
// own. The length along the curve, 4 R sin(s/2), swings harmonically whatever the amplitude (Huygens
// 1673).
model Cycloid "Bead on a cycloid in parametric form, contact coordinate, index 3"
  parameter Real m(unit = "kg") = 2, g(unit = "m/s2") = 9.81, R(unit = "m") = 0.5;
  Real x(unit = "m", start = 0.9), y(unit = "m", start = 0.3);
  Real vx(unit = "m/s", start = 0, fixed = true), vy(unit = "m/s");
  Real s(unit = "rad", start = 1, fixed = true) "angle of the wheel that draws the curve";
  Real N(unit = "N", start = 20) "force of the curve on the bead";
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -N*sin(s/2);
  m*der(vy) = N*cos(s/2) - m*g;
  (x - R*(s + sin(s)))*cos(s/2) + (y - R*(1 - cos(s)))*sin(s/2) = 0 "nearest point";
  (y - R*(1 - cos(s)))*cos(s/2) - (x - R*(s + sin(s)))*sin(s/2) = 0 "bead on the curve";
  annotation(experiment(StartTime = 0, StopTime = 5, Tolerance = 1e-7));
end Cycloid;
