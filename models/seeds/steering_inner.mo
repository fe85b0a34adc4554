// (1.9) of [HW96 VII.1] in the form (1.4) of [BH93]: y' = f(y,z,u), 0 = k(y,z,u), 0 = g(y).
model SteeringInner "The steering wheel with inner variables, index 2"
  Real y1(start = 1), y2(start = 0, fixed = true), z(start = 0), u1, u2(start = 1);
equation
  der(y1) = 0.7*y2 + u1;
  der(y2) = 1.4*y1 + u2;
  u1 + 0.1*u1^3 = sin(2.5*z) + 0.1*sin(2.5*z)^3;
  u2^3 + u2 = cos(2.5*z)^3 + cos(2.5*z);
  y1^2 + y2^2 = 1 "circle";
  annotation(experiment(StartTime = 0, StopTime = 0.2, Tolerance = 1e-9));
end SteeringInner;
