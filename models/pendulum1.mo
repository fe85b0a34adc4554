model Pendulum1 "Plane pendulum in Cartesian coordinates, constraint at acceleration level: index 1"
  parameter Real m(unit = "kg") = 1 "mass";
  parameter Real L(unit = "m") = 1 "length";
  parameter Real g(unit = "m/s2") = 1 "gravity";
  Real x(unit = "m", start = L, fixed = true) "position, to the right";
  Real y(unit = "m", start = 0, fixed = true) "position, upwards";
  Real vx(unit = "m/s", start = 0, fixed = true);
  Real vy(unit = "m/s", start = 0, fixed = true);
  Real lambda(unit = "N/m") "force in the rod per length";
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -lambda*x;
  m*der(vy) = -lambda*y - m*g;
  lambda*(x^2 + y^2) = m*(vx^2 + vy^2 - g*y) "x^2 + y^2 = L^2, differentiated twice";
  annotation(experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-7));
end Pendulum1;
