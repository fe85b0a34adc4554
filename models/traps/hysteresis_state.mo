model HysteresisState "a relay with hysteresis as a discrete variable: it switches at log 2 + k log 3"
  Real x(start = 0, fixed = true);
  Boolean on(start = true, fixed = true);
equation
  der(x) = (if on then 1 else -1) - x;
  when x > 0.5 then
    on = false;
  elsewhen x < -0.5 then
    on = true;
  end when;
  annotation(experiment(StopTime = 10));
end HysteresisState;
