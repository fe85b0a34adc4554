model NoeventPulses "159 pulses inside of noEvent, one inside of smooth"
  Real c(start = 0, fixed = true), d(start = 0, fixed = true);
equation
  der(d) = noEvent(if sin(1000*time) > 0.9999 then 1 else 0);
  der(c) = smooth(0, if time > 0.3 and time < 0.3001 then 1e4 else 0);
  annotation(experiment(StopTime = 1));
end NoeventPulses;
