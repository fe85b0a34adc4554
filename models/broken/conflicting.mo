// Two unknowns, two equations, and no solution: the left sides are the same.
model Conflicting "Two constraints that contradict each other"
  Real x, y;
equation
  x + y = 1; // culprit
  x + y = 2; // culprit
end Conflicting;
