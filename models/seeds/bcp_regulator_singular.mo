// (1.3.5) with R = 0 and B = (2, 1), else as bcp_regulator.mo: index 3.
model RegulatorSingular
  Real x[2](start = {1, 0}, each fixed = true), l[2], u;
equation
  der(x[1]) = x[2] + 2 * u;
  der(x[2]) = -x[1] + u;
  der(l[1]) = -x[1] + l[2];
  der(l[2]) = -x[2] - l[1];
  2 * l[1] + l[2] = 0;
  annotation(experiment(StopTime = 2));
end RegulatorSingular;
