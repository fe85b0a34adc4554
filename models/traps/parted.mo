model Parted "constraints on positions and velocities that agree at the start and part later"
  Real x(start = 0, fixed = true), y, vx(start = 1, fixed = true), vy, a, b;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = a;
  der(vy) = b;
  x - y = 0;
  vx - vy = sin(time)^2;
  annotation(experiment(StopTime = 1));
end Parted;
