// x = exp(1 - 1/(1 - t)) goes to 0 with all derivatives for t -> 1; the factor is zero there, but
// keeps its sign.
model Touching "The factor of a derivative touches zero"
  Real x(start = 1, fixed = true);
equation
  (1 - time)^2*der(x) = -x;
  annotation(experiment(StopTime = 2));
end Touching;
