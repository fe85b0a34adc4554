// Hessenberg form of size 4, Definition 2.4.4 of Brenan, Campbell and Petzold: index 4. Exact:
// x3 = f4, x2 = f3 - x3' - x3, x1 = f2 - x2' - x2, x4 = f1 - x1' - x1, f4 = sin t, others 0.
model Hessenberg4
  Real x1, x2, x3, x4;
equation
  der(x1) + x1 + x4 = 0;
  der(x2) + x2 + x1 = 0;
  der(x3) + x3 + x2 = 0;
  x3 = sin(time);
  annotation(experiment(StopTime = 1));
end Hessenberg4;
