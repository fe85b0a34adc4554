model start_small "a root of size 1e-20, which is nominal"
  Real x(start = 1, fixed = true), i(nominal = 1e-20);
equation
  der(x) = -x;
  i^2 = 1e-40*x^2;
  annotation(experiment(StopTime = 1));
end start_small;
