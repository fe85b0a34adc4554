model Pendulum "Plane pendulum as the textbook writes it: the rod keeps its length, index 3"
  parameter Real m(unit = "kg") = 1 "mass";
  parameter Real L(unit = "m") = 1 "length";
  parameter Real g(unit = "m/s2") = 1 "gravity";
  Real x(unit = "m", start = L) "position, to the right";
  Real y(unit = "m", start = 0, fixed = true) "position, upwards";
  Real vx(unit = "m/s", start = 0);
  Real vy(unit = "m/s", start = 0, fixed = true);
  Real lambda(unit = "N/m") "force in the rod per length";
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -lambda*x;
  m*der(vy) = -lambda*y - m*g;
  x^2 + y^2 = L^2 "rod";
  annotation(experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-7));
end Pendulum;
