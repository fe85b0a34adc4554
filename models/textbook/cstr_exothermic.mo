model CSTR "Stirred tank with an exothermic reaction that ignites"
  parameter Real V = 100 "l", q = 100 "l/min", cf = 1 "mol/l", Tf = 350 "K";
  parameter Real k0 = 7.2e10 "1/min", ER = 8750 "K", dH = -5e4 "J/mol", rhocp = 239 "J/(l K)", UA = 5e4;
  Real c(start = 0.5, fixed = true), T(start = 340, fixed = true), Tc, k;
equation
  Tc = if time < 5 then 300 else 295;
  k = k0*exp(-ER/T);
  der(c) = q/V*(cf - c) - k*c;
  der(T) = q/V*(Tf - T) - dH/rhocp*k*c + UA/(V*rhocp)*(Tc - T);
  annotation(experiment(StopTime = 10));
end CSTR;
