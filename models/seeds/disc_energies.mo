// The disc that rolls without slipping, of which section 1.2.2 of [Wun05] speaks: constraints on
// velocities, (1.14). Free motion is along a circle.
model Disc "Upright disc that rolls in a plane, nonholonomic, index 2"
  parameter Real m(unit = "kg") = 2, R(unit = "m") = 0.5;
  parameter Real A(unit = "kg.m2") = m*R^2/2 "about the axis", B(unit = "kg.m2") = m*R^2/4 "about a diameter";
  Real x(unit = "m", start = 0, fixed = true), y(unit = "m", start = 0, fixed = true) "contact";
  Real theta(unit = "rad", start = 0, fixed = true) "rolled by", phi(unit = "rad", start = 0, fixed = true) "heading";
  Real vx(unit = "m/s"), vy(unit = "m/s");
  Real omega(unit = "rad/s", start = 3, fixed = true), turn(unit = "rad/s", start = 0.8, fixed = true);
  Real lambda[2](each unit = "N") "forces at the contact";
equation
  der(x) = vx;
  der(y) = vy;
  der(theta) = omega;
  der(phi) = turn;
  annotation(
    experiment(StartTime = 0, StopTime = 5, Tolerance = 1e-7),
    __Daedal(
      coordinates = {x, y, theta, phi},
      lagrangian = m/2*(vx^2 + vy^2) + A/2*omega^2 + B/2*turn^2,
      constraints = {vx - R*omega*cos(phi), vy - R*omega*sin(phi)},
      multipliers = lambda));
end Disc;
