model LeakingBarrel "A barrel with two holes, one of them halfway up"
  Real h(start = 1, fixed = true), low, high;
equation
  low = 2e-3*sqrt(h);
  high = if h > 0.5 then 4e-3*sqrt(h - 0.5) else 0;
  0.3*der(h) = -low - high;
  annotation(experiment(StopTime = 200));
end LeakingBarrel;
