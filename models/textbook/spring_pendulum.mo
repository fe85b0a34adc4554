model SpringPendulum "A mass swings on an elastic cord"
  parameter Real m = 0.5, k = 20, L = 1, g = 9.81;
  Real x(start = 1), y(start = -0.5), vx(start = 0), vy(start = 0), r, F;
equation
  r = sqrt(x^2 + y^2);
  F = k*(r - L);
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F*x/r;
  m*der(vy) = -F*y/r - m*g;
  annotation(experiment(StopTime = 6));
end SpringPendulum;
