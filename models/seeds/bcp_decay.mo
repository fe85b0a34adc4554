// x' = -x^2, an ODE for orders k_d. Exact: x = 1/(1 + t).
model Decay
  Real x(start = 1, fixed = true);
equation
  der(x) = -x^2;
  annotation(experiment(StopTime = 1, Tolerance = 1e-10));
end Decay;
