// Example 1.2.1 of [Wun05] word for word: the Lagrange function contains the multiplier and its
// constraint, (1.3), and the Euler-Lagrange equations (1.4) are those of x, y and lambda.
model PendulumLagrangian "Plane pendulum from its Lagrange function, index 3"
  parameter Real m(unit = "kg") = 1, l(unit = "m") = 1, g(unit = "m/s2") = 1;
  Real x(unit = "m", start = l) "position, to the right";
  Real y(unit = "m", start = 0, fixed = true) "position, upwards";
  Real lambda(unit = "N/m") "half the force in the rod per length";
initial equation
  der(y) = 0;
  annotation(
    experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-7),
    __Daedal(
      coordinates = {x, y},
      multipliers = {lambda},
      lagrangian = m/2*(der(x)^2 + der(y)^2) - m*g*y - lambda*(x^2 + y^2 - l^2)));
end PendulumLagrangian;
