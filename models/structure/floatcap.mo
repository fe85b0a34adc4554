// Node analysis of a capacitor between two nodes that both lead to ground by resistors: its
// capacitance cancels from the sum of the two equations, which is a constraint (the pattern of the
// transistor amplifier). Index 1 where the structure says 0.
model FloatCap "Floating capacitor by node analysis: index 1, structurally 0"
  parameter Real w = 1 "of the given function of time";
  parameter Real C = 1, G1 = 1, G2 = 2;
  Real v1(start = 1, fixed = true), v2;
equation
  C*(der(v1) - der(v2)) + G1*v1 = sin(w*time);
  -C*(der(v1) - der(v2)) + G2*v2 = 0;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end FloatCap;
