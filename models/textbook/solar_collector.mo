model SolarCollector "The pump runs while the collector is warmer than the tank"
  Real Tc(start = 15, fixed = true) "degC, collector", Tt(start = 30, fixed = true) "tank", sun;
  Boolean pump(start = false, fixed = true);
equation
  sun = max(0, sin(3.14159265358979*(time - 6)/12));
  pump = if pre(pump) then Tc > Tt + 2 else Tc > Tt + 8;
  0.05*der(Tc) = 3*sun - 0.05*(Tc - 15) - (if pump then 0.4*(Tc - Tt) else 0);
  0.35*der(Tt) = (if pump then 0.4*(Tc - Tt) else 0) - 0.003*(Tt - 20);
  annotation(experiment(StopTime = 24));
end SolarCollector;
