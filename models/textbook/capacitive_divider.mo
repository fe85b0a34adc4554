model CapacitiveDivider "Two capacitors in series at a source: a loop, index 2"
  parameter Real C1 = 2e-6, C2 = 3e-6, R = 1e4;
  Real v, v1, v2(start = 0, fixed = true), i1, i2, iR;
equation
  v = 10*sin(300*time);
  v = v1 + v2;
  i1 = C1*der(v1);
  i2 = C2*der(v2);
  iR = v2/R;
  i1 = i2 + iR;
  annotation(experiment(StopTime = 0.05));
end CapacitiveDivider;
