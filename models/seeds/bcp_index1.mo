// x' = -x y, y^3 + y = x^3 + x: semi-explicit, index 1, as (3.4.6) of Brenan, Campbell and Petzold.
// Exact: x = y = 1/(1 + t).
model Index1
  Real x(start = 1, fixed = true), y(start = 1);
equation
  der(x) = -x * y;
  y^3 + y = x^3 + x;
  annotation(experiment(StopTime = 1, Tolerance = 1e-12));
end Index1;
