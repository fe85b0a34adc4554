model HeatExchanger "Counterflow heat exchanger of six cells, started cold"
  parameter Integer n = 6;
  parameter Real Ch = 0.5 "kW/K", Cc = 0.8, UA = 1.2 "kW/K, in all", M = 5 "kJ/K, of each cell";
  Real Th[n](each start = 20, each fixed = true), Tc[n](each start = 20, each fixed = true), Q[n];
equation
  for i in 1:n loop
    Q[i] = UA/n*(Th[i] - Tc[i]);
    M*der(Th[i]) = Ch*((if i == 1 then 90 else Th[i - 1]) - Th[i]) - Q[i];
    M*der(Tc[i]) = Cc*((if i == n then 15 else Tc[i + 1]) - Tc[i]) + Q[i];
  end for;
  annotation(experiment(StopTime = 200));
end HeatExchanger;
