model PulsesState "159 pulses of 2 acos(0.9999)/1000 each: the argument oscillates, the states do not"
  Real x(start = 0, fixed = true), c(start = 0, fixed = true);
equation
  der(x) = 1;
  der(c) = if sin(1000*x) > 0.9999 then 1 else 0;
  annotation(experiment(StopTime = 1));
end PulsesState;
