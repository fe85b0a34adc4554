// Three capacitors in a ring, node analysis with branch charges: a loop of capacitors alone
// (K. E. Brenan, S. L. Campbell, L. R. Petzold, 1996, 6.4: index 2).
model CapLoop "Loop of three capacitors with resistors to ground, index 2"
  parameter Real w = 1 "of the given function of time";
  parameter Real C1 = 1, C2 = 2, C3 = 3, G1 = 1, G2 = 2;
  Real u1(start = 1, fixed = true), u2(start = 0.5, fixed = true), u3 "voltages of the capacitors";
  Real i1, i2, i3 "currents of the capacitors";
  Real e1, e2 "potentials";
equation
  C1*der(u1) = i1;
  C2*der(u2) = i2;
  C3*der(u3) = i3;
  u1 = e1;
  u2 = e2;
  u3 = e1 - e2;
  i1 + i3 + G1*e1 = sin(w*time) "node 1";
  i2 - i3 + G2*e2 = 0 "node 2";
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end CapLoop;
