// As many equations as unknowns, yet p is determined twice and q or r not at all.
model Balanced "The number of equations is right, their distribution is not"
  Real x(start = 1, fixed = true), p, q, r;
equation
  der(x) = -x + p;
  p = cos(x); // culprit
  exp(p) = x + 2; // culprit
  q + r = x;
end Balanced;
