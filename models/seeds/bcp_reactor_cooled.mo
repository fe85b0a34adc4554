// (1.3.9a) to (1.3.9c): the reactor of bcp_reactor.mo with a known temperature of the coolant.
model ReactorCooled
  parameter Real K1 = 1, K2 = 10, K3 = 5, K4 = 300, K5 = 3, C0 = 1, T0 = 300, TC = 250;
  Real C(start = 0.75, fixed = true), T(start = 200, fixed = true), R;
equation
  der(C) = K1 * (C0 - C) - R;
  der(T) = K1 * (T0 - T) + K2 * R - K3 * (T - TC);
  0 = R - K5 * exp(-K4 / T) * C;
  annotation(experiment(StopTime = 1));
end ReactorCooled;
