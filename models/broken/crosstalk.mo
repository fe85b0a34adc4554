// With a = 1 both equations have x + y on their left sides: s would have to be cos(time) - 1. Any other
// value of a is right.
model Crosstalk "Two channels that talk to each other"
  parameter Real a = 1;
  Real x, y;
  Real s(start = 1, fixed = true); // fixed: s
equation
  x + a*y = s + 1; // culprit
  a*x + y = cos(time); // culprit
  der(s) = -x;
end Crosstalk;
