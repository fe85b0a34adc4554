// The operational amplifier of structure/opampresistors.mo with equal conductances: G1 G4 = G2 G3.
// v2 = v4 and the dividers force v1 = 0, against the source.
model Conductances "A value of a parameter that makes the equations singular"
  parameter Real G1 = 1, G2 = 1, G3 = 1, G4 = 1, w = 1;
  Real v1, v2, v3, v4, iE, iO;
equation
  G1*v1 - G1*v2 + iE = 0;
  -G1*v1 + (G1 + G2)*v2 - G2*v3 = 0; // culprit
  -G2*v2 + (G2 + G4)*v3 - G4*v4 + iO = 0;
  -G4*v3 + (G3 + G4)*v4 = 0; // culprit
  v1 = 1 + 0.5*sin(w*time); // culprit
  v2 - v4 = 0; // culprit
end Conductances;
