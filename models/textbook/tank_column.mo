model TankColumn "Four tanks, each drains into the next"
  parameter Integer n = 4;
  parameter Real A = 0.1, k = 0.01;
  Real h[n](start = {1, 0.5, 0.3, 0.2}, each fixed = true), q[n];
equation
  for i in 1:n loop
    q[i] = k*sqrt(h[i]);
    A*der(h[i]) = (if i == 1 then 0.006 else q[i - 1]) - q[i];
  end for;
  annotation(experiment(StopTime = 60));
end TankColumn;
