model JumpRelation "the difference of the two sides changes its sign by a jump, and back through zero"
  Real x(start = -1, fixed = true), c(start = 0, fixed = true);
equation
  der(x) = 1;
  der(c) = if noEvent(sign(x))*(1 - x) > 0 then 1 else 0;
  annotation(experiment(StopTime = 3));
end JumpRelation;
