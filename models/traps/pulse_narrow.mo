model PulseNarrow "one pulse of 2e-5 sqrt(log 2), far shorter than any step"
  Real x(start = 0, fixed = true), y(start = 1, fixed = true);
equation
  der(y) = -y;
  der(x) = if exp(-((time - 0.37)/1e-5)^2) > 0.5 then 1e3 else 0;
  annotation(experiment(StopTime = 1));
end PulseNarrow;
