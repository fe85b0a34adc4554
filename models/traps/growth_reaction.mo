// B' = .. + k3 B^2 in place of -: a pole at about t = 0.0016, where rounding in B is large, too.
model growth_reaction "Robertson's reaction with a wrong sign"
  parameter Real k1 = 0.05, k2 = 2e4, k3 = 2e7;
  Real A(start = 1, fixed = true), B(start = 0, fixed = true), C(start = 0, fixed = true);
equation
  der(A) = -k1*A + k2*B*C;
  der(B) = k1*A - k2*B*C + k3*B^2;
  der(C) = k3*B^2;
  annotation(experiment(StopTime = 100));
end growth_reaction;
