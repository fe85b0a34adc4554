// The second equation says what the first one says: x - y may be anything.
model Redundant "Two constraints that say the same"
  Real x, y;
equation
  x + 2*y = 1; // culprit
  2*x + 4*y = 2; // culprit
end Redundant;
