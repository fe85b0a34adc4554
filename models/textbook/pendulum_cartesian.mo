model PendulumCartesian "Pendulum in Cartesian coordinates, index 3"
  parameter Real m = 2 "kg", L = 1.5 "m", g = 9.81;
  Real x(start = 0.9, fixed = true), y(start = -1.2);
  Real vx(start = 0, fixed = true), vy(start = 0);
  Real F "N, force in the rod";
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F*x/L;
  m*der(vy) = -F*y/L - m*g;
  x^2 + y^2 = L^2;
  annotation(experiment(StopTime = 5));
end PendulumCartesian;
