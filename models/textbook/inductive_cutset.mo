model InductiveCutset "Two coils that meet at a current source: a cutset, index 2"
  parameter Real L1 = 0.1, L2 = 0.3, R1 = 10, R2 = 20;
  Real is, i1, i2(start = 0, fixed = true), u;
equation
  is = 0.5*(1 - cos(200*time));
  is = i1 + i2;
  u = R1*i1 + L1*der(i1);
  u = R2*i2 + L2*der(i2);
  annotation(experiment(StopTime = 0.06));
end InductiveCutset;
