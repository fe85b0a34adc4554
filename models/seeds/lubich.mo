// (1.31) of [HW96 VII.1]: differentiation index 1, perturbation index 2. With eps > 0 it is the
// perturbed system, y1' = eps^2 omega.
model Lubich "Perturbation and differentiation index differ by 1"
  parameter Real eps = 0 "perturbation", omega = 1 "its frequency";
  Real y1(start = 0, fixed = true), y2, y3;
equation
  der(y1) - y3*der(y2) + y2*der(y3) = 0;
  y2 = eps*sin(omega*time);
  y3 = eps*cos(omega*time);
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-9));
end Lubich;
