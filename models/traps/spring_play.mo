// Kinks of the force at +-p take the order down; between them speeds are v0, in contact a half sine of length pi/5.
model spring_play "A mass on a spring with play"
  parameter Real v0 = 1.1, p = 0.2;
  Real x(start = 0, fixed = true), v(start = v0, fixed = true);
equation
  der(x) = v;
  der(v) = -25*noEvent(if x > p then x - p else if x < -p then x + p else 0);
  annotation(experiment(StopTime = 10));
end spring_play;
