// [Baese17] 4.7, from the Test Set for Initial Value Problem Solvers: in six unknowns, as there.
// models/akzo.mo has the rates as variables, too.
model BaeseAkzo "Chemical Akzo Nobel in six unknowns, index 1"
  parameter Real k1 = 18.7, k2 = 0.58, k3 = 0.09, k4 = 0.42, K = 34.4, klA = 3.3, Ks = 115.83;
  parameter Real pCO2 = 0.9, H = 737;
  Real y1(start = 0.444, fixed = true), y2(start = 0.00123, fixed = true);
  Real y3(start = 0, fixed = true), y4(start = 0.007, fixed = true), y5(start = 0, fixed = true);
  Real y6(start = 0.36);
equation
  der(y1) = -2*k1*y1^4*sqrt(y2) + k2*y3*y4 - k2*y1*y5/K - k3*y1*y4^2;
  der(y2) = -0.5*k1*y1^4*sqrt(y2) - k3*y1*y4^2 - 0.5*k4*y6^2*sqrt(y2) + klA*(pCO2/H - y2);
  der(y3) = k1*y1^4*sqrt(y2) - k2*y3*y4 + k2*y1*y5/K;
  der(y4) = -k2*y3*y4 + k2*y1*y5/K - 2*k3*y1*y4^2;
  der(y5) = k2*y3*y4 - k2*y1*y5/K + k4*y6^2*sqrt(y2);
  0 = Ks*y1*y4 - y6;
  annotation(experiment(StartTime = 0, StopTime = 180, Tolerance = 1e-7));
end BaeseAkzo;
