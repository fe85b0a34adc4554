// (1.9) of [HW96 VII.1]: z keeps the velocity tangent to the circle. Figure 1.3 perturbs the circle.
model Steering "The steering wheel, index 2"
  parameter Real eps = 0 "perturbation of the circle", omega = 1 "its frequency";
  Real y1(start = 1), y2(start = 0, fixed = true), z(start = 0);
equation
  der(y1) = 0.7*y2 + sin(2.5*z);
  der(y2) = 1.4*y1 + cos(2.5*z);
  y1^2 + y2^2 - 1 = eps*sin(omega*time) "circle";
  annotation(experiment(StartTime = 0, StopTime = 0.2, Tolerance = 1e-9));
end Steering;
