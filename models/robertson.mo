model Robertson "Robertson's autocatalytic reaction: rates over nine decades, mass conserved"
  parameter Real k1(unit = "1/s") = 0.04 "rate of A -> B";
  parameter Real k2(unit = "1/s") = 1e4 "rate of B + C -> A + C";
  parameter Real k3(unit = "1/s") = 3e7 "rate of B + B -> B + C";
  Real y1(unit = "1", start = 1, fixed = true, nominal = 1e-5) "fraction of A, down to 2e-8";
  Real y2(unit = "1", start = 0, fixed = true, nominal = 1e-9) "fraction of B, from 4e-5 to 8e-14";
  Real y3(unit = "1", start = 0) "fraction of C";
equation
  der(y1) = -k1*y1 + k2*y2*y3 "A";
  der(y2) = k1*y1 - k2*y2*y3 - k3*y2^2 "B";
  y1 + y2 + y3 = 1 "conservation of mass";
  annotation(experiment(StartTime = 0, StopTime = 1e11, Tolerance = 1e-7));
end Robertson;
