model CamFollower "A follower with a spring leaves its cam at high speed"
  parameter Real m = 0.2, k = 800, kc = 2e5, w = 60;
  Real x(start = 0.0099, fixed = true), v(start = 0, fixed = true), cam, F;
equation
  cam = 0.01*cos(w*time);
  der(x) = v;
  F = max(0, kc*(cam - x));
  m*der(v) = F - k*(x + 0.02) - 3*v;
  annotation(experiment(StopTime = 0.3));
end CamFollower;
