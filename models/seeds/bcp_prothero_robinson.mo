// (4.5.3): y' = lambda (y - g) + g', stiff. Exact: y = g = sin(1/2 + 2 t).
model ProtheroRobinson
  parameter Real lambda = -1e6;
  Real y(start = sin(0.5), fixed = true);
equation
  der(y) = lambda * (y - sin(0.5 + 2 * time)) + 2 * cos(0.5 + 2 * time);
  annotation(experiment(StopTime = 1, Tolerance = 1e-10));
end ProtheroRobinson;
