model FoldCubic "x^3 - 3 x = u: two branches; u rises from -3 to 3 and falls again"
  Real x(start = -2.1038), u, s(start = 0, fixed = true);
equation
  u = if time < 1 then -3 + 6*time else 9 - 6*time;
  x^3 - 3*x = u;
  der(s) = x;
  annotation(experiment(StopTime = 2));
end FoldCubic;
