// Three voltage sources in a loop; capacitors in a loop would only raise the index.
model VoltageLoop "Loop of three voltage sources"
  parameter Real G1 = 1, G2 = 1, w = 1;
  Real e1, e2, i1, i2, i3;
equation
  e1 = sin(w*time); // culprit
  e2 = cos(w*time); // culprit
  e1 - e2 = 0.5 + 0.1*sin(w*time); // culprit
  i1 + i3 + G1*e1 = 0 "node 1";
  i2 - i3 + G2*e2 = 0 "node 2";
end VoltageLoop;
