// Up to t = 0.5 the second line is the derivative of the first, then it is not.
model EventContradiction "Constraints that contradict each other after an event"
  Real x1(start = 0, fixed = true), x2, v1, v2, l1, l2;
equation
  der(x1) = v1;
  der(x2) = v2;
  der(v1) = 2 + l1 + l2;
  der(v2) = l1 + l2;
  x1 + x2 = 3;
  v1 + v2 = if time < 0.5 then 0 else 0.25;
end EventContradiction;
