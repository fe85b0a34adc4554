model BeltScaled "A belt of any size whose second constraint is wrong by a part of it"
  parameter Real S = 1e-6, part = 0.05;
  Real x1(start = 0, fixed = true), x2, v1, v2, l1, l2;
equation
  der(x1) = v1;
  der(x2) = v2;
  der(v1) = 2*S + l1 + l2;
  der(v2) = l1 + l2;
  x1 + x2 = 3*S;
  v1 + v2 = part*S;
end BeltScaled;
