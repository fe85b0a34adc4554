// A square that would have to be negative.
model NoSolution "An equation without a real solution"
  Real s(start = 1, fixed = true);
  Real x(start = 1); // named: x
equation
  der(s) = -s;
  x^2 = -1 - s^2; // culprit
end NoSolution;
