model relation_onto_zero "jumps that end at zero, at the start and later: relations take the value that their definition gives there"
  Real u, v, w;
  Real x(start = 0, fixed = true) "counts the time in which all three hold";
  Real y(start = 0, fixed = true) "counts the time in which u is at most zero";
  Boolean free, none, some;
equation
  u = if time < 0.1 then 0 else if time < 0.5 then 2 else 0;
  v = if time < 0.3 then 1 + x else 0;
  w = if time < 0.3 then -1 - x else 0;
  free = u <= 0;
  none = not v > 0;
  some = w >= 0;
  der(x) = if free and none and some then 1 else 0;
  der(y) = if free then 1 else 0;
  annotation(experiment(StopTime = 1));
end relation_onto_zero;
