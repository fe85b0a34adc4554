model StartNoInductance "without inductance the current follows from the voltage: i = u/R, u = U exp(-t/(R C))"
  parameter Real L = 0, R = 2, C = 1;
  Real i(start = 1, fixed = true), u(start = 3, fixed = true);
equation
  L*der(i) = u - R*i;
  C*der(u) = -i;
  annotation(experiment(StopTime = 1));
end StartNoInductance;
