model Flame "A match is lit: the ball of flame grows all at once"
  parameter Real delta = 0.001;
  Real r(start = delta, fixed = true);
equation
  der(r) = r^2 - r^3;
  annotation(experiment(StopTime = 2000));
end Flame;
