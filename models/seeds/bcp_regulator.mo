// (1.3.5) of Brenan, Campbell and Petzold: the quadratic regulator with A = [0 1; -1 0], B = (0, 1),
// Q = 1, as an initial value problem; the equation of lambda has -A' lambda. Index 1; with R = 0
// index 3.
model Regulator
  parameter Real R = 1;
  Real x[2](start = {1, 0}, each fixed = true), l[2](start = {0.3, 0.2}, each fixed = true), u;
equation
  der(x[1]) = x[2];
  der(x[2]) = -x[1] + u;
  der(l[1]) = -x[1] + l[2];
  der(l[2]) = -x[2] - l[1];
  R * u + l[2] = 0;
  annotation(experiment(StopTime = 2));
end Regulator;
