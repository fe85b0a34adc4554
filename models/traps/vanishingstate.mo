// x = 1 - t: the factor of der(y) is zero at t = 1, where y is -log(1 - t).
model VanishingState "The factor of a derivative is another state, which passes through zero"
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = -1;
  x*der(y) = 1;
  annotation(experiment(StopTime = 2));
end VanishingState;
