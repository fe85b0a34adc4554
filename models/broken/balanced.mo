// As many equations as unknowns, yet p is determined twice and q or r not at all.
model Balanced "The number of equations is right, their distribution is not"
  parameter Real w = 1;
  Real x(start = 1, fixed = true), p, q, r;
equation
  der(x) = -x + p;
  p = cos(w*time); // culprit
  exp(p) = 2 + sin(w*time); // culprit
  q + r = x;
end Balanced;
