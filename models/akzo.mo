model Akzo "Chemical Akzo Nobel: five reactions, one of them in equilibrium; time counts minutes"
  parameter Real k1 = 18.7 "rate of 2 FLB + 1/2 CO2 -> FLBT + H2O";
  parameter Real k2 = 0.58 "rate of FLBT + ZHU -> ZLA + FLB";
  parameter Real k3 = 0.09 "rate of FLB + 2 ZHU + CO2 -> LB + nitrate";
  parameter Real k4 = 0.42 "rate of FLB.ZHU + 1/2 CO2 -> ZLA + H2O";
  parameter Real K = 34.4 "equilibrium constant of FLBT + ZHU <-> ZLA + FLB";
  parameter Real Ks = 115.83 "equilibrium constant of FLB + ZHU <-> FLB.ZHU";
  parameter Real klA = 3.3 "mass transfer coefficient";
  parameter Real pCO2 = 0.9 "partial pressure of CO2, constant";
  parameter Real H = 737 "Henry constant";
  Real FLB(unit = "mol/l", start = 0.444, fixed = true);
  Real CO2(unit = "mol/l", start = 0.00123, fixed = true, nominal = 1e-3);
  Real FLBT(unit = "mol/l", start = 0, fixed = true);
  Real ZHU(unit = "mol/l", start = 0.007, fixed = true, nominal = 1e-3);
  Real ZLA(unit = "mol/l", start = 0, fixed = true, nominal = 1e-2);
  Real FLB_ZHU(unit = "mol/l", start = 0.36, nominal = 1e-2) "in equilibrium at all times";
protected
  Real r[5] "reaction rates";
equation
  r[1] = k1*FLB^4*sqrt(CO2);
  r[2] = k2*FLBT*ZHU;
  r[3] = k2/K*FLB*ZLA;
  r[4] = k3*FLB*ZHU^2;
  r[5] = k4*FLB_ZHU^2*sqrt(CO2);
  der(FLB) = -2*r[1] + r[2] - r[3] - r[4];
  der(CO2) = -r[1]/2 - r[4] - r[5]/2 + klA*(pCO2/H - CO2) "the gas above feeds what reacts";
  der(FLBT) = r[1] - r[2] + r[3];
  der(ZHU) = -r[2] + r[3] - 2*r[4];
  der(ZLA) = r[2] - r[3] + r[5];
  Ks*FLB*ZHU = FLB_ZHU "equilibrium";
  annotation(experiment(StartTime = 0, StopTime = 180, Tolerance = 1e-7));
end Akzo;
