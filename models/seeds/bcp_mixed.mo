// (4.3.33) of Brenan, Campbell and Petzold: index 1, with the algebraic variable mixed into the
// differential one by a factor that depends on time. Exact: x = exp(-t) + t sin t, y = sin t.
model Mixed
  Real x(start = 1, fixed = true);
  Real y(start = 0);
equation
  der(x) - time * der(y) + x - (1 + time) * y = 0;
  y = sin(time);
  annotation(experiment(StopTime = 1, Tolerance = 1e-12));
end Mixed;
