// Below the upper hole its outflow has no value: no step leads past the event, only up to it.
// While both run, t = a integral dh/(b sqrt(h) + c sqrt(h - 1/2)) (QUADPACK); then sqrt(h) falls linearly.
model hole_halfway "A barrel with two holes, the upper one halfway up"
  Real h(start = 1, fixed = true), low, high;
equation
  low = 2e-3*sqrt(h);
  high = if h > 0.5 then 4e-3*sqrt(h - 0.5) else 0;
  0.3*der(h) = -low - high;
  annotation(experiment(StopTime = 200));
end hole_halfway;
