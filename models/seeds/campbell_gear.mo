// (1.32) of [HW96 VII.1] with m = 3: differentiation index 1, perturbation index 3. With eps > 0
// the last equation is perturbed: y1 = eps^3 omega^2 sin(omega t) cos(2 omega t).
model CampbellGear "Perturbation and differentiation index differ by 2"
  parameter Real eps = 0 "perturbation", omega = 1 "its frequency";
  Real y1, y2, y3;
equation
  y3*der(y2) + y1 = 0;
  y3*der(y3) + y2 = 0;
  y3 = eps*sin(omega*time);
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-9));
end CampbellGear;
