model GasBottle "Gas flows from a bottle into a vessel, choked at first"
  parameter Real V1 = 10e-3, V2 = 20e-3, Rs = 287, T = 293, A = 1e-6, k = 1.4;
  Real p1(start = 20e5, fixed = true), p2(start = 1e5, fixed = true), mdot, r;
equation
  r = max(p2/p1, 0.5283);
  mdot = A*p1*sqrt(2*k/(k - 1)/(Rs*T)*max(0, r^(2/k) - r^((k + 1)/k)));
  V1*der(p1) = -mdot*Rs*T;
  V2*der(p2) = mdot*Rs*T;
  annotation(experiment(StopTime = 60));
end GasBottle;
