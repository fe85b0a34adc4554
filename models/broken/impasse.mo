// E. Hairer and G. Wanner, Solving ODEs II, (1.9): at t = 0.37249 the hidden constraint
// y1 (0.7 y2 + sin 2.5 z) + y2 (1.4 y1 + cos 2.5 z) = 0 has no derivative with respect to z.
model Impasse "Steering wheel that cannot turn any further"
  Real y1(start = 1), y2(start = 0, fixed = true);
  Real z(start = 0); // named: z
equation
  der(y1) = 0.7*y2 + sin(2.5*z); // culprit
  der(y2) = 1.4*y1 + cos(2.5*z); // culprit
  y1^2 + y2^2 = 1; // culprit
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end Impasse;
