// Example 2.4.1 of Brenan, Campbell and Petzold: the pencil is singular at all times, and yet the
// system is solvable, of index 2. Exact: x2 = f2' - f1, x1 = f2 - t x2.
model SingularPencil
  Real x1, x2;
  Real f1 = cos(time), f2 = exp(time / 2);
equation
  der(x1) + time * der(x2) = f1;
  x1 + time * x2 = f2;
  annotation(experiment(StartTime = 0.5, StopTime = 1.5));
end SingularPencil;
