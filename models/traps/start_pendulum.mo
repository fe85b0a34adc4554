model start_pendulum "three conditions where two are free: x is fixed, and an initial equation says otherwise"
  Real x(start = 0.5, fixed = true), y(start = -0.5);
  Real vx(start = 0, fixed = true), vy, F, drag, m(start = 0);
initial equation
  x + y = 0;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -F*x;
  der(vy) = -F*y - 9.81 - 0*drag;
  x^2 + y^2 = 1;
  m^3 = 1;
  drag = if m > 0.1 then 2*m else m;
  annotation(experiment(StopTime = 1));
end start_pendulum;
