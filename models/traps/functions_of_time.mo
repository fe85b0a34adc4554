// Nothing to integrate: x and what follows from it are given by time, v and a by derivatives of it.
model FunctionsOfTime
  Real x, v, a;
equation
  x = sin(time);
  der(x) = v;
  der(v) = a;
  annotation(experiment(StopTime = 1, Tolerance = 1e-6));
end FunctionsOfTime;
