// The form E y' = A(y) y - d(t) of a gas network (K. E. Brenan, S. L. Campbell, L. R. Petzold,
// 1996, end of 6.5; after T. S. Chua and P. M. Dew): pressures at nodes, flows through pipes and
// machines. A compressor of fixed ratio ties two pressures that both have a capacity: index 2.
model GasNetwork "Source, pipe, compressor, pipe, consumer: index 2"
  parameter Real w = 1 "of the given function of time";
  parameter Real c[4] = {1, 0.5, 0.5, 1} "capacities of the nodes";
  parameter Real k[2] = {0.8, 1.2} "friction in the pipes";
  parameter Real ratio = 1.5 "of the compressor";
  Real p[4](start = {2, 1.8, 2.7, 2.5}, fixed = {false, true, false, true}) "pressures at nodes";
  Real qs(start = 0.5) "flow from the source";
  Real q[2](each start = 0.4) "flow through the pipes";
  Real qc(start = 0.4) "flow through the compressor";
equation
  p[1] = 2 "source holds its pressure";
  c[1]*der(p[1]) = qs - q[1];
  c[2]*der(p[2]) = q[1] - qc;
  c[3]*der(p[3]) = qc - q[2];
  c[4]*der(p[4]) = q[2] - (0.4 + 0.1*sin(w*time)) "demand";
  p[1]^2 - p[2]^2 = k[1]*q[1]*abs(q[1]) + 0.1*q[1] "pipe 1";
  p[3] = ratio*p[2] "compressor";
  p[3]^2 - p[4]^2 = k[2]*q[2]*abs(q[2]) + 0.1*q[2] "pipe 2";
  annotation(experiment(StartTime = 0, StopTime = 5, Tolerance = 1e-7));
end GasNetwork;
