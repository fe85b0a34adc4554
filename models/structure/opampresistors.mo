// K. E. Brenan, S. L. Campbell, L. R. Petzold, 1996, (6.4.3): solvable unless G1 G4 = G2 G3.
model OpAmpResistors "Four resistors and an ideal operational amplifier: no state at all, index 1"
  parameter Real w = 1 "of the given function of time";
  parameter Real G1 = 1, G2 = 2, G3 = 3, G4 = 4 "conductances";
  Real v1, v2, v3, v4 "potentials";
  Real iE, iO "currents of source and amplifier";
equation
  G1*v1 - G1*v2 + iE = 0;
  -G1*v1 + (G1 + G2)*v2 - G2*v3 = 0;
  -G2*v2 + (G2 + G4)*v3 - G4*v4 + iO = 0;
  -G4*v3 + (G3 + G4)*v4 = 0;
  v1 = sin(w*time);
  v2 - v4 = 0;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end OpAmpResistors;
