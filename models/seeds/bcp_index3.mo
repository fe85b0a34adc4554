// (3.1.4) of Brenan, Campbell and Petzold: x1 = g(t) = sin 2t, of index 3. Exact: x2 = g', x3 = g''.
model Index3
  Real x1(start = 0), x2(start = 2), x3(start = 0);
equation
  der(x1) = x2;
  der(x2) = x3;
  0 = x1 - sin(2 * time);
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Index3;
