// E. Hairer and G. Wanner, Solving ODEs II, (1.12): one nilpotent block of size 3.
model Nilpotent3 "Linear system with constant coefficients, index 3"
  parameter Real w = 1 "of the given function of time";
  Real z1, z2, z3;
equation
  der(z2) + z1 = sin(w*time);
  der(z3) + z2 = cos(2*w*time);
  z3 = exp(-w*time);
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end Nilpotent3;
