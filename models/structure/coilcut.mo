// Two coils and a current source meet in a node: a cutset of coils and current sources, the dual
// of a loop of capacitors and voltage sources. Index 2.
model CoilCut "Cutset of two coils and a current source, index 2"
  parameter Real w = 1 "of the given function of time";
  parameter Real L1 = 1, L2 = 2, R1 = 1, R2 = 2;
  Real i1(start = 0.2, fixed = true), i2 "currents of the coils into the node";
  Real e "potential of the node";
equation
  L1*der(i1) = -e - R1*i1;
  L2*der(i2) = -e - R2*i2;
  i1 + i2 = cos(w*time) "node";
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end CoilCut;
