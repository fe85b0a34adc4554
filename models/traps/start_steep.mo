model start_steep "q = sqrt(dp) at dp = 0: the value is there, its partial derivative is not"
  Real x(start = 1, fixed = true), q, dp;
equation
  der(x) = q;
  q = sqrt(dp);
  dp = time;
  annotation(experiment(StopTime = 1));
end start_steep;
