// The coefficient of z vanishes at t = 1, where x does not.
model Vanishing "A coefficient that vanishes during the run"
  parameter Real rate = 1;
  Real x(start = 1, fixed = true);
  Real z; // named: z
equation
  der(x) = -x;
  (1 - rate*time)*z = x; // culprit
  annotation(experiment(StartTime = 0, StopTime = 2, Tolerance = 1e-7));
end Vanishing;
