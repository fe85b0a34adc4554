// Example 1 of [HW96 VII.1]: T and U of the angle give l theta'' = -g sin(theta); x and y are (2.16)
// with phi = theta - pi/2.
model PendulumAngle "Pendulum by its angle, from its energies"
  parameter Real m(unit = "kg") = 1, l(unit = "m") = 1, g(unit = "m/s2") = 1;
  Real theta(unit = "rad", start = acos(0), fixed = true), omega(unit = "rad/s", start = 0, fixed = true);
  Real x = l*sin(theta), y = -l*cos(theta);
equation
  der(theta) = omega;
  annotation(
    experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-7),
    __Daedal(coordinates = {theta}, kinetic = m*l^2*omega^2/2, potential = -l*m*g*cos(theta)));
end PendulumAngle;
