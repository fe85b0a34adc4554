model ThermalExplosion "A powder heats itself until it burns off"
  Real T(start = 300, fixed = true), c(start = 1, fixed = true), r;
equation
  r = 2e5*exp(-6300/T)*c;
  der(c) = -r;
  der(T) = 800*r - 0.01*(T - 300);
  annotation(experiment(StopTime = 500));
end ThermalExplosion;
