// K. E. Brenan, S. L. Campbell, L. R. Petzold, 1996, 7.4: structural index 0, index 1. The
// difference of the two equations is y = t - cos t.
model Cancel "Both derivatives appear by their sum only: index 1, structurally 0"
  parameter Real w = 1 "of the given function of time";
  Real x(start = 1, fixed = true), y(start = -1);
equation
  der(x) + der(y) + x + y = cos(w*time);
  der(x) + der(y) + x + 2*y = time;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end Cancel;
