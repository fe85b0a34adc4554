// (2.3.7) of Brenan, Campbell and Petzold: one constraint is written down, two are hidden. Exact:
// x1 = f2 - f3', x2 = f3, x3 = f1 - f2' + f3''.
model Hidden
  Real x1, x2, x3;
  Real f1 = sin(time), f2 = cos(2 * time), f3 = exp(-time);
equation
  der(x1) + x3 = f1;
  der(x2) + x1 = f2;
  x2 = f3;
  annotation(experiment(StopTime = 1));
end Hidden;
