model ThirdOrder "Third order equations with a constraint on positions, index 4 [Wun05 (3.14), d = 3]"
  // y1 = sin(t), y2 = cos(t), lambda = 2 + cos(2*t)
  Real y1(start = 0, fixed = true), y2(start = 1);
  Real v1(start = 1, fixed = true), v2(start = 0);
  Real a1(start = 0, fixed = true), a2(start = -1);
  Real lambda(start = 3);
equation
  der(y1) = v1;
  der(y2) = v2;
  der(v1) = a1;
  der(v2) = a2;
  der(a1) = -y2 + (lambda - 2 - cos(2*time))*y1;
  der(a2) = y1 + (lambda - 2 - cos(2*time))*y2;
  y1^2 + y2^2 = 1;
  annotation(experiment(StopTime = 1));
end ThirdOrder;
