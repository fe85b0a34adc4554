model KinksTime "kinks and jumps of functions of time: estimates of high order make light of them"
  Real a(start = 0, fixed = true), b(start = 0, fixed = true), c(start = 0, fixed = true);
equation
  der(a) = noEvent(abs(sin(3*time)));
  der(b) = max(sin(time), 0);
  der(c) = noEvent(sign(sin(2*time)));
  annotation(experiment(StopTime = 10));
end KinksTime;
