// L. Wunderlich, thesis, TU Berlin, 2005, (3.11): the system (3.9) with both derivatives as new
// variables. v2 is of no use to anyone and costs one more differentiation: strangeness index 3.
model Order1 "Linear DAE of second order turned into one of first order"
  parameter Real w = 1 "of the given function of time";
  Real v1, v2, x1, x2;
equation
  der(v1) + v1 + x2 = cos(2*w*time);
  x1 = sin(w*time);
  der(x1) = v1;
  der(x2) = v2;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end Order1;
