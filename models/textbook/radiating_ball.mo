model RadiatingBall "A glowing steel ball cools by radiation and air"
  parameter Real sigma = 5.67e-8, eps = 0.8, A = 0.03, m = 4, c = 500, h = 12, Ta = 293;
  Real T(start = 1200, fixed = true) "K", Qrad, Qair;
equation
  Qrad = eps*sigma*A*(T^4 - Ta^4);
  Qair = h*A*(T - Ta);
  m*c*der(T) = -Qrad - Qair;
  annotation(experiment(StopTime = 7200));
end RadiatingBall;
