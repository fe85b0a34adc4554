// Three equations for two unknowns; any two of them have a solution.
model TooMany "One equation too many"
  Real x, y;
equation
  x + y = 1; // culprit
  x - y = 0.5; // culprit
  exp(x) = 3; // culprit
end TooMany;
