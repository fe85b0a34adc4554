// K. E. Brenan, S. L. Campbell, L. R. Petzold, 1996, (1.3.9a-c).
model Reactor1 "Cooled reactor with a given coolant, index 1"
  parameter Real K1 = 1, K2 = 2, K3 = 5, K4 = 3, C0 = 1, T0 = 1, TC = 1;
  Real C(start = 0.5, fixed = true) "concentration";
  Real T(start = 2, fixed = true) "temperature";
  Real R(start = 0.5) "rate of reaction";
equation
  der(C) = K1*(C0 - C) - R;
  der(T) = K1*(T0 - T) + K2*R - K3*(T - TC);
  R = K3*exp(-K4/T)*C;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end Reactor1;
