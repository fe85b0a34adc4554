model LagDifference "two fast lags; their difference over T magnifies what they are uncertain by"
  parameter Real T = 1e-6;
  Real x(start = 0, fixed = true), y(start = 0, fixed = true), d;
equation
  T*der(x) = sin(2*time) - x;
  T*der(y) = x - y;
  d = (x - y)/T;
  annotation(experiment(StopTime = 3));
end LagDifference;
