model InitialContradiction "the initial equation of a discrete variable contradicts its equation"
  Integer n;
initial equation
  n = 7;
equation
  n = if time < 0.5 then 1 else 2;
  annotation(experiment(StopTime = 1));
end InitialContradiction;
