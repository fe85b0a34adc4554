model CircularTrack "Particle on a circular track with a tangential force [Wun05 (2.55)]"
  // y1 = sin(t^2), y2 = cos(t^2), lambda = -4*t^2
  Real y1(start = 0.8414709848078965, fixed = true) "sin(1)";
  Real y2(start = 0.5403023058681398) "cos(1)";
  Real z1(start = 1.0806046117362795, fixed = true) "2 cos(1)";
  Real z2(start = -1.682941969615793) "-2 sin(1)";
  Real lambda(start = -4);
equation
  der(y1) = z1;
  der(y2) = z2;
  der(z1) = 2*y2 + lambda*y1;
  der(z2) = -2*y1 + lambda*y2;
  0 = y1^2 + y2^2 - 1;
  annotation(experiment(StartTime = 1, StopTime = 1.05));
end CircularTrack;
