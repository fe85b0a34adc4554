model TwoTanks "Two tanks joined by a pipe find one level"
  parameter Real A1 = 2, A2 = 1, k = 0.05;
  Real h1(start = 3, fixed = true), h2(start = 1, fixed = true), q "m3/s";
equation
  q*abs(q) = k^2*(h1 - h2);
  A1*der(h1) = -q;
  A2*der(h2) = q;
  annotation(experiment(StopTime = 40));
end TwoTanks;
