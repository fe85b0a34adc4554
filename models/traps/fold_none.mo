model FoldNone "y exp(-y) = t/2 folds at y = 1, t = 2/e: there is no other solution beyond, though far out the equation is flat"
  Real y(start = 0.1), x(start = 0, fixed = true);
equation
  y*exp(-y) = time/2;
  der(x) = y;
  annotation(experiment(StopTime = 1));
end FoldNone;
