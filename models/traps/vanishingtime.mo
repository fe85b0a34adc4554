// x = 1 - t up to t = 1; any c (1 - t) may follow.
model VanishingTime "The factor of a derivative passes through zero at t = 1"
  Real x(start = 1, fixed = true);
equation
  (1 - time)*der(x) = -x;
  annotation(experiment(StopTime = 2));
end VanishingTime;
