// (4.4.9) of Brenan, Campbell and Petzold: a pendulum in the index-2 form of Gear, Gupta and
// Leimkuhler, at rest at x1 = 1.
model Pendulum2
  Real x1(start = 1, fixed = true), x2(start = 0, fixed = true);
  Real x3(start = 0, fixed = true), x4(start = 0, fixed = true);
  Real y1(start = 0), y2(start = 0);
equation
  der(x1) = x3 - x1 * y2;
  der(x2) = x4 - x2 * y2;
  der(x3) = -y1 * x1;
  der(x4) = -y1 * x2 - 1;
  0 = (1 - x1^2 - x2^2) / 2;
  0 = x1 * x3 + x2 * x4;
  annotation(experiment(StopTime = 1, Tolerance = 1e-12));
end Pendulum2;
