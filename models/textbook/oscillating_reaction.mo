model Brusselator "A chemical clock (Brusselator)"
  parameter Real A = 1, B = 3;
  Real x(start = 1), y(start = 1);
equation
  der(x) = A + x^2*y - B*x - x;
  der(y) = B*x - x^2*y;
  annotation(experiment(StopTime = 20));
end Brusselator;
