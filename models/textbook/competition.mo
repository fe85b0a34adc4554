model Competition "Three species compete for one meadow"
  parameter Real A[3, 3] = [1, 0.6, 0.4; 0.5, 1, 0.9; 0.8, 0.3, 1], r[3] = {1, 0.7, 1.3};
  Real N[3](start = {0.1, 0.2, 0.05}, each fixed = true);
equation
  for i in 1:3 loop
    der(N[i]) = r[i]*N[i]*(1 - A[i, :]*N);
  end for;
  annotation(experiment(StopTime = 30));
end Competition;
