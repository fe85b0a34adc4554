// E. Hairer and G. Wanner, Solving ODEs II, (1.9): z steers the vector field along the circle.
// From this start there is no solution beyond t = 0.37249, where d/dz of the hidden constraint is
// zero.
model Steering "Control that keeps a point on the circle, index 2"
  Real y1(start = 1), y2(start = 0, fixed = true);
  Real z(start = 0) "steering wheel";
equation
  der(y1) = 0.7*y2 + sin(2.5*z);
  der(y2) = 1.4*y1 + cos(2.5*z);
  y1^2 + y2^2 = 1;
  annotation(experiment(StartTime = 0, StopTime = 0.2, Tolerance = 1e-7));
end Steering;
