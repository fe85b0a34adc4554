model PulseRational "the same by a state and a quotient: 1/(1 + a^2) > 1/2 while |a| < 1"
  Real x(start = 0, fixed = true), y(start = 1, fixed = true);
equation
  der(y) = -y;
  der(x) = if 1/(1 + (1e6*(y - 0.7))^2) > 0.5 then 1e3 else 0;
  annotation(experiment(StopTime = 1));
end PulseRational;
