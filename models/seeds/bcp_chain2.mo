// x' = z, x = sin t: the smallest linear system of index 2 with constant coefficients, as (4.2.11)
// of Brenan, Campbell and Petzold has it. Exact: z = cos t.
model Chain2
  Real x(start = 0), z(start = 1);
equation
  der(x) = z;
  x = sin(time);
  annotation(experiment(StopTime = 1, Tolerance = 1e-10));
end Chain2;
