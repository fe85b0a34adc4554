model DecayChain "Decay of iodine 131 through a daughter with an hour's life, in days"
  parameter Real half[2] = {8.02, 0.05} "days";
  Real N[3](start = {1e6, 0, 0}, each fixed = true);
  Real lambda[2] = {log(2)/h for h in half};
equation
  der(N[1]) = -lambda[1]*N[1];
  der(N[2]) = lambda[1]*N[1] - lambda[2]*N[2];
  der(N[3]) = lambda[2]*N[2];
  annotation(experiment(StopTime = 30));
end DecayChain;
