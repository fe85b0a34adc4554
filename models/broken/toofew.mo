// Two equations for three unknowns: one of y and z would have to be given.
model TooFew "One equation too few"
  Real x(start = 1, fixed = true);
  Real y, z; // named: y z
equation
  der(x) = -x;
  y + z = x; // culprit
end TooFew;
