// Sides that are equal, but for rounding, all along or at first: relations keep the value of equality until they can be told apart.
model equal_sides
  Real y = time, s(start = 0, fixed = true);
  Boolean same = max(y, 0) >= time, cubic = s < atan(s);
  Integer k = if same then 1 else 0, l = if cubic then 1 else 0;
equation
  der(s) = 1;
  annotation(experiment(StopTime = 1));
end equal_sides;
