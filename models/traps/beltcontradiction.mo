// The belt keeps x1 + x2, so that v1 + v2 = 0 whatever the forces are.
model BeltContradiction "A constraint on velocities that contradicts one on positions"
  parameter Real m = 1, F = 2, w = 0.5;
  Real x1(start = 0, fixed = true), x2, v1, v2, l1, l2;
equation
  der(x1) = v1;
  der(x2) = v2;
  m*der(v1) = F + l1 + l2;
  m*der(v2) = l1 + l2;
  x1 + x2 = 3;
  v1 + v2 = w;
end BeltContradiction;
