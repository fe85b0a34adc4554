model SpinningBox "A box in free space turns about its middle axis and tumbles (Euler)"
  parameter Real J[3] = {1, 2, 3};
  Real w[3](start = {0.01, 2, 0.02}, each fixed = true), L[3];
equation
  L = {J[k]*w[k] for k in 1:3};
  der(L) + cross(w, L) = zeros(3);
  annotation(experiment(StopTime = 6));
end SpinningBox;
