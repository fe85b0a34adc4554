// On the plateaus y' is 0: a step from one to the next has no error, and leaves out the one between.
model SigmoidPlateaus
  Real y;
equation
  y = 1/(1 + exp(-100*(sin(time) - 0.2*y)));
  annotation(experiment(StopTime = 20));
end SigmoidPlateaus;
