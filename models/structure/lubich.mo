// E. Hairer and G. Wanner, Solving ODEs II, (1.31), by C. Lubich: differentiation index 1,
// perturbation index 2.
model Lubich "Two indices that differ by one"
  parameter Real eps = 0, omega = 1 "of a perturbation";
  Real y1(start = 0, fixed = true), y2(start = 0), y3(start = 0);
equation
  der(y1) - y3*der(y2) + y2*der(y3) = 0;
  y2 = eps*sin(omega*time);
  y3 = eps*cos(omega*time);
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end Lubich;
