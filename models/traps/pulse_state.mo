model PulseState "a pulse of a state inside of noEvent, shorter than any step"
  Real s(start = 0, fixed = true), x(start = 0, fixed = true);
equation
  der(s) = 1;
  der(x) = noEvent(if s > 1.23456 and s < 1.24456 then 100 else 0);
  annotation(experiment(StopTime = 5));
end PulseState;
