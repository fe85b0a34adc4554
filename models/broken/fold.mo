// y = sqrt(x) until x reaches zero at t = 0.25; there is no solution beyond.
model Fold "Algebraic variable at the fold of its equation"
  Real x(start = 0.25, fixed = true);
  Real y(start = 0.5); // named: y
equation
  der(x) = -1;
  y^2 = x; // culprit
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end Fold;
