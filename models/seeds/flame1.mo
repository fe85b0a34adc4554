// [BCP96] 6.5, case 1, (6.5.7): as the mesh is defined. The reaction of S. Adjerid and
// J. E. Flaherty, with (1 + a - T) where the print has (1 + a - t).
model Flame1 "Single step reaction with diffusion on a moving mesh, case 1, index 0"
  parameter Integer N = 31 "points";
  parameter Real a = 1, delta = 30, R = 5;
  final parameter Real D = R*exp(delta)/(a*delta);
  Real T[N](each start = 1, each fixed = true) "temperature";
  Real x[N](start = {(i - 1)/(N - 1) for i in 1:N}, each fixed = true) "places of the points";
  Real Tx[N - 1], f[N - 1] "slope; T_xx + reaction";
equation
  Tx[1] = 0 "symmetry";
  f[1] = 2*(T[2] - T[1])/(x[2] - x[1])^2 + D*(1 + a - T[1])*exp(-delta/T[1]);
  for i in 2:N - 1 loop
    Tx[i] = (T[i + 1] - T[i - 1])/(x[i + 1] - x[i - 1]);
    f[i] = 2*((T[i + 1] - T[i])/(x[i + 1] - x[i]) - (T[i] - T[i - 1])/(x[i] - x[i - 1]))/(x[i + 1] - x[i - 1])
      + D*(1 + a - T[i])*exp(-delta/T[i]);
    der(T[i]) - Tx[i]*der(x[i]) = f[i];
    der(x[i]) + Tx[i]*der(T[i]) = 0;
  end for;
  der(T[1]) = f[1];
  der(x[1]) = 0;
  der(T[N]) = 0;
  der(x[N]) = 0;
  annotation(experiment(StartTime = 0, StopTime = 0.29, Tolerance = 1e-4));
end Flame1;
