model HollingPredator "Prey with limited food and predators that are sated (Holling II)"
  Real x(start = 0.5), y(start = 0.3);
equation
  der(x) = x*(1 - x) - 2*x*y/(0.5 + x);
  der(y) = 1.2*x*y/(0.5 + x) - 0.4*y;
  annotation(experiment(StopTime = 40));
end HollingPredator;
