model OutputDifference "a lag that follows its input; how far it is behind is a small difference"
  parameter Real T = 1e-4;
  Real x(start = 0, fixed = true), u, e;
equation
  u = sin(time);
  T*der(x) = u - x;
  e = u - x;
  annotation(experiment(StopTime = 10, Interval = 0.5));
end OutputDifference;
