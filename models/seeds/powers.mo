model Powers "x'' = t^k, k = 0 .. 4: one step shows sums over the coefficients of a collocation method"
  Real x[5](each start = 0, each fixed = true);
  Real v[5](each start = 0, each fixed = true);
equation
  for k in 1:5 loop
    der(x[k]) = v[k];
    der(v[k]) = time^(k - 1);
  end for;
  annotation(experiment(StartTime = 0, StopTime = 1));
end Powers;
