model RLCStep "Series RLC circuit that is switched on at t = 0"
  parameter Real R = 20, L = 10e-3, C = 1e-6;
  parameter Real Vin = 12;
  Real iL(start = 0, fixed = true), vC(start = 0, fixed = true);
  Real vR, vL;
equation
  vR = R*iL;
  vL = L*der(iL);
  C*der(vC) = iL;
  Vin = vR + vL + vC; // Kirchhoff
  annotation(experiment(StopTime = 2e-3));
end RLCStep;
