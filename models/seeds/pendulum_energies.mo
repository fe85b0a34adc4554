// Example 1.2.1 of [Wun05]: T, U and the constraint give (1.10). The constraint is an equation of
// the model; lambda is its multiplier.
model PendulumEnergies "Plane pendulum from its energies, index 3"
  parameter Real m(unit = "kg") = 1 "mass";
  parameter Real l(unit = "m") = 1 "length";
  parameter Real g(unit = "m/s2") = 1 "gravity";
  Real x(unit = "m", start = l) "position, to the right";
  Real y(unit = "m", start = 0, fixed = true) "position, upwards";
  Real vx(unit = "m/s", start = 0);
  Real vy(unit = "m/s", start = 0, fixed = true);
  Real lambda(unit = "N/m") "half the force in the rod per length";
  Real T(unit = "J") = m/2*(vx^2 + vy^2) "kinetic energy";
  Real U(unit = "J") = m*g*y "potential energy";
equation
  der(x) = vx;
  der(y) = vy;
  x^2 + y^2 - l^2 = 0 "rod";
  annotation(
    experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-7),
    __Daedal(coordinates = {x, y}, kinetic = T, potential = U, multipliers = {lambda}));
end PendulumEnergies;
