// First integrals as section VII.2 of [HW96] tells them apart: x^2 + y^2 is quadratic, a + b linear.
model CircleInvariant "A linear and a quadratic first integral"
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
  Real a(start = 1, fixed = true), b(start = 0, fixed = true);
  Real S = x^2 + y^2 "quadratic", linear = a + b;
equation
  der(x) = y*(1 + x);
  der(y) = -x*(1 + x);
  der(a) = -a*b - a + b;
  der(b) = a*b + a - b;
  annotation(experiment(StartTime = 0, StopTime = 20, Tolerance = 1e-7));
end CircleInvariant;
