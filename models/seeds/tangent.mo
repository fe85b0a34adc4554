model Tangent "x'' = 2 x x' with the solution x = tan(t): orders of second order methods"
  Real x(start = 0, fixed = true);
  Real v(start = 1, fixed = true);
equation
  der(x) = v;
  der(v) = 2*x*v;
  annotation(experiment(StartTime = 0, StopTime = 1));
end Tangent;
