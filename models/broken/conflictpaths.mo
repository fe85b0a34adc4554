// Two controls, but both paths prescribe the same sum of positions.
model ConflictPaths "Prescribed paths that contradict each other"
  parameter Real w = 1;
  Real x, y, u, v;
equation
  der(x) = u;
  der(y) = v;
  x + y = sin(w*time); // culprit
  x + y = cos(w*time); // culprit
end ConflictPaths;
