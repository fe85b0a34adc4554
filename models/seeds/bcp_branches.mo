// tan y' = y, section 2.2 of Brenan, Campbell and Petzold: one solution for every branch of the
// inverse of tan. The start value of v chooses the branch.
model Branches
  parameter Real guess = 0.5;
  Real y(start = 1, fixed = true), v(start = guess);
equation
  der(y) = v;
  tan(v) = y;
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Branches;
