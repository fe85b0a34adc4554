model CartControl "A cart that is to be somewhere else, at rest, as soon as possible"
  parameter Real T(min = 0) = 1.5 "the time it takes, by which time is scaled";
  input Real a(min = -1, max = 1) "acceleration";
  Real x(start = 0, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(x) = T*v;
  der(v) = T*a;
  annotation(experiment(StopTime = 1), __Daedal(terminal = {x == 1, v == 0}));
end CartControl;
