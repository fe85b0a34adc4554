// [Baese17] 4.2.3: x = y = exp(t).
model BaeseGrowth "One differential and one algebraic unknown, index 1"
  Real x(start = 1, fixed = true), y(start = 1);
equation
  der(x) = x;
  0 = x - y;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end BaeseGrowth;
