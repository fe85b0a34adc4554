// Friction couples the applied forces to the force of the constraint, (1.15) of [Wun05].
model Friction "Block that slides down a slope with dry friction, index 3"
  parameter Real m(unit = "kg") = 3, g(unit = "m/s2") = 9.81;
  parameter Real alpha(unit = "rad") = 0.6 "slope", mu = 0.2 "coefficient of friction";
  Real x(unit = "m", start = 0, fixed = true), y(unit = "m");
  Real vx(unit = "m/s", start = 0.1, fixed = true), vy(unit = "m/s");
  Real lambda(unit = "N", start = -20) "minus the normal force";
  Real s(unit = "m/s") = vx*cos(alpha) - vy*sin(alpha) "speed along the slope";
  Real F(unit = "N") = -mu*abs(lambda)*sign(s);
equation
  der(x) = vx;
  der(y) = vy;
  x*sin(alpha) + y*cos(alpha) = 0 "slope";
  annotation(
    experiment(StartTime = 0, StopTime = 2, Tolerance = 1e-7),
    __Daedal(
      coordinates = {x, y},
      kinetic = m/2*(vx^2 + vy^2),
      potential = m*g*y,
      forces(x = F*cos(alpha), y = -F*sin(alpha)),
      multipliers = {lambda}));
end Friction;
