// (1.3.9) of Brenan, Campbell and Petzold: isomerisation in a cooled reactor. The product follows
// C = 1/2 + exp(-t)/4, and the temperature TC of the coolant is found.
model Reactor
  parameter Real K1 = 1, K2 = 10, K3 = 5, K4 = 300, C0 = 1, T0 = 300;
  parameter Real K5 = 3 "frequency factor of the reaction, which is printed as K3, too";
  Real C(start = 0.75), T(start = 200), R, TC;
equation
  der(C) = K1 * (C0 - C) - R;
  der(T) = K1 * (T0 - T) + K2 * R - K3 * (T - TC);
  0 = R - K5 * exp(-K4 / T) * C;
  0 = C - (0.5 + 0.25 * exp(-time));
  annotation(experiment(StopTime = 1));
end Reactor;
