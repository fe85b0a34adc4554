model LaserPulse "A short pulse of a laser heats a foil, which cools slowly"
  Real T(start = 20, fixed = true), P;
equation
  P = 5000*exp(-((time - 7)/0.02)^2);
  der(T) = P - 0.1*(T - 20);
  annotation(experiment(StopTime = 20));
end LaserPulse;
