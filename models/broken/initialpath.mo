// The path starts at 0; x is not free.
model InitialPath "A fixed value of a variable whose path is prescribed"
  parameter Real w = 1;
  Real x(start = 1, fixed = true); // fixed: x
  Real u;
equation
  der(x) = u;
  x = sin(w*time) "path"; // culprit
end InitialPath;
