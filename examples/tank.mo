model Tank "keep a level with little work: daedal emit --format conditions, docs/optimality.md"
  parameter Real a = 1 "outflow";
  input Real u(start = 0) "control";
  Real x(start = 1, fixed = true) "level above its aim";
equation
  der(x) = -a*x + u;
  annotation(experiment(StopTime = 1));
end Tank;
