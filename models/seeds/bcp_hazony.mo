// (1.3.12) of Brenan, Campbell and Petzold: a loaded Hazony section under small loading. C1, C2, G1,
// G2, G3 are parasitic; without C1 and C2 the circuit has one state.
model Hazony
  parameter Real C1 = 1e-3, C2 = 1e-3, C = 1, G1 = 1e-3, G2 = 1e-3, G3 = 1e-3, G = 0, g = 1;
  Real v1(start = 0), v2(start = 0), i3;
  Real u = sin(time);
equation
  C1 * der(v1) + G1 * v1 + g * v2 + i3 = u;
  C2 * der(v2) + g * v1 + (G + G2) * v2 - i3 = 0;
  C * der(v1) - C2 * der(v2) + G3 * v1 - G3 * v2 - i3 = 0;
  annotation(experiment(StopTime = 5));
end Hazony;
