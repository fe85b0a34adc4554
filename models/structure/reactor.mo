// K. E. Brenan, S. L. Campbell, L. R. Petzold, 1996, (1.3.9a-d); after C. C. Pantelides, SIAM J.
// Sci. Statist. Comput. 9 (1988): the temperature of the coolant that gives a wanted
// concentration.
model Reactor "Cooled reactor with a prescribed product, index 3"
  parameter Real w = 1 "of the given function of time";
  parameter Real K1 = 1, K2 = 2, K3 = 5, K4 = 3, C0 = 1, T0 = 1;
  Real C(start = 0.5) "concentration";
  Real T(start = 1.6) "temperature";
  Real R(start = 0.4) "rate of reaction";
  Real TC(start = 1.5) "temperature of the coolant";
equation
  der(C) = K1*(C0 - C) - R;
  der(T) = K1*(T0 - T) + K2*R - K3*(T - TC);
  R = K3*exp(-K4/T)*C;
  C = 0.5 + 0.1*sin(w*time) "wanted";
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end Reactor;
