model NoeventPulse "a pulse of a thousandth of the interval inside of noEvent: no step may pass over it"
  Real c(start = 0, fixed = true), x(start = 1, fixed = true);
equation
  der(x) = -x;
  der(c) = noEvent(if abs(time - 0.5) < 5e-4 then 1000 else 0);
  annotation(experiment(StopTime = 1));
end NoeventPulse;
