model PulsesSine "1000 pulses of a tenth of a period each, from a comparison with a sine"
  Real x(start = 0, fixed = true);
equation
  der(x) = if sin(6283.185307179586*time) > 0.9510565162951535 then 1 else 0;
  annotation(experiment(StopTime = 1));
end PulsesSine;
