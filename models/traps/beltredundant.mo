// v1 + v2 = 0 follows from x1 + x2 = 3: only the sum of the forces matters, l1 = l2 = -F/4.
model BeltRedundant "A constraint on velocities that follows from one on positions"
  parameter Real m = 1, F = 2;
  Real x1(start = 0, fixed = true), x2, v1, v2, l1, l2;
equation
  der(x1) = v1;
  der(x2) = v2;
  m*der(v1) = F + l1 + l2;
  m*der(v2) = l1 + l2;
  x1 + x2 = 3;
  v1 + v2 = 0;
end BeltRedundant;
