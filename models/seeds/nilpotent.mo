// (1.12) of [HW96 VII.1], with right sides of our own: z1 = d1 - d2' + d3''.
model Nilpotent "A nilpotent block of three, index 3"
  Real z1, z2, z3;
equation
  der(z2) + z1 = exp(-time);
  der(z3) + z2 = sin(2*time);
  z3 = cos(time);
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-9));
end Nilpotent;
