// Thermal isomerisation of alpha-pinene [BHME73]: percentages of five substances.
model Pinene
  parameter Real th[5](each unit = "1/min") = {5e-5, 3e-5, 2e-5, 3e-4, 5e-5} "rates";
  Real y1(start = 100, fixed = true, unit = "%") "alpha-pinene";
  Real y2(start = 0, fixed = true, unit = "%") "dipentene";
  Real y3(start = 0, fixed = true, unit = "%") "allo-ocimene";
  Real y4(start = 0, fixed = true, unit = "%") "pyronene";
  Real y5(start = 0, fixed = true, unit = "%") "dimer";
equation
  der(y1) = -(th[1] + th[2])*y1;
  der(y2) = th[1]*y1;
  der(y3) = th[2]*y1 - (th[3] + th[4])*y3 + th[5]*y5;
  der(y4) = th[3]*y3;
  der(y5) = th[4]*y3 - th[5]*y5;
  annotation(experiment(StopTime = 36420, Tolerance = 1e-8));
end Pinene;
