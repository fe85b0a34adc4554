model start_initial_sign "an initial equation without a gradient at 0 and no start value"
  Real v;
initial equation
  v^2 = 4;
equation
  der(v) = -v;
  annotation(experiment(StopTime = 1));
end start_initial_sign;
