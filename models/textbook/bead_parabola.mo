model BeadParabola "A bead slides on a wire in the form of a parabola, index 3"
  parameter Real g = 9.81, m = 0.1;
  Real x(start = 1, fixed = true), y, vx(start = 0, fixed = true), vy, N;
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -2*x*N;
  m*der(vy) = N - m*g;
  y = x^2;
  annotation(experiment(StopTime = 4));
end BeadParabola;
