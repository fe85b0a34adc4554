// Two voltage sources in parallel have to agree, and how they share the current is open.
model ParallelSources "Voltage sources in parallel"
  parameter Real G = 1, w = 1;
  Real e, i1, i2;
equation
  e = sin(w*time) "source 1"; // culprit
  e = cos(w*time) "source 2"; // culprit
  i1 + i2 + G*e = 0 "node";
end ParallelSources;
