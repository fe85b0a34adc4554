model start_large "a root of size 1e20"
  Real x(start = 1, fixed = true), i;
equation
  der(x) = -x;
  i^2 = 1e40*x^2;
  annotation(experiment(StopTime = 1));
end start_large;
