// L. Wunderlich, thesis, TU Berlin, 2005, (3.9): strangeness index 2 as a system of second order.
model Order2 "Linear DAE of second order"
  parameter Real w = 1 "of the given function of time";
  Real x1, x2;
equation
  der(der(x1)) + der(x1) + x2 = cos(2*w*time);
  x1 = sin(w*time);
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end Order2;
