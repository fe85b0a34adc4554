// K. E. Brenan, S. L. Campbell, L. R. Petzold, 1996, (6.4.4); its last row is v2 - v4 = 0. The
// pencil has determinant s C (G1 G4 - G2 G3) - G1 G2 G3 up to sign: the number of states hangs on
// numbers.
model OpAmpCapacitor "Capacitor, resistors and an ideal amplifier: index 1, one state"
  parameter Real C = 1, G1 = 1, G2 = 2, G3 = 3, G4 = 4;
  Real v1(start = 1, fixed = true), v2, v3, v4 "potentials";
  Real iO "current of the amplifier";
equation
  C*der(v1) + G1*v1 - G1*v2 = 0;
  -G1*v1 + (G1 + G2)*v2 - G2*v3 = 0;
  -G2*v2 + (G2 + G4)*v3 - G4*v4 + iO = 0;
  -G4*v3 + (G3 + G4)*v4 = 0;
  v2 - v4 = 0;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end OpAmpCapacitor;
