// Corrections of x are below its rounding, but not their h^-3 in the third derivative.
model FourthOrder "x'''' = x, cos t"
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), a(start = -1, fixed = true), j(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = a;
  der(a) = j;
  der(j) = x;
  annotation(experiment(StopTime = 4));
end FourthOrder;
