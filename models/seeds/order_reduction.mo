model OrderReduction "Linear second order DAE whose first order form needs more derivatives [Wun05 (3.9)]"
  // x1 = f2, x2 = f1 - f2' - f2''
  Real x1(start = 0), x2(start = 0);
equation
  der(der(x1)) + der(x1) + x2 = cos(3*time);
  x1 = sin(2*time);
  annotation(experiment(StopTime = 2));
end OrderReduction;
