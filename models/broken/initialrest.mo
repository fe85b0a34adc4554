// From x = 1 the state cannot be at rest.
model InitialRest "At rest where the equation moves"
  Real x(start = 1, fixed = true); // fixed: x
initial equation
  der(x) = 0; // culprit
equation
  der(x) = -x; // culprit
end InitialRest;
