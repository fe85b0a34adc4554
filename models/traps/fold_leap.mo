model FoldLeap "the solution ends at x = 2/3 with y = -1; another one, y = 2, is there"
  Real x(start = 0, fixed = true), y(start = -1.7);
equation
  der(x) = 1;
  y^3/3 - y = x;
  annotation(experiment(StopTime = 2));
end FoldLeap;
