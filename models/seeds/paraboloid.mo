model Paraboloid "Particle on a paraboloid, index 3 [Wun05 (7.32)]"
  // From this start it runs round at constant height: q = (cos(w*t), sin(w*t), 1), w^2 = -2*lambda = 2.
  Real q1(start = 1, fixed = true);
  Real q2(start = 0, fixed = true);
  Real q3(start = 1);
  Real v1(start = 0, fixed = true);
  Real v2(start = 1.4142135623730951, fixed = true);
  Real v3(start = 0);
  Real lambda(start = -1);
  Real height = q1^2 + q2^2 - q3 "the constraint";
  Real rate = 2*q1*v1 + 2*q2*v2 - v3 "hidden, of the velocities (7.33)";
  Real bend = 2*v1^2 + 4*lambda*q1^2 + 4*lambda*q2^2 + 2*v2^2 + lambda + 1 "hidden, of the accelerations (7.34)";
equation
  der(q1) = v1;
  der(q2) = v2;
  der(q3) = v3;
  der(v1) = 2*lambda*q1;
  der(v2) = 2*lambda*q2;
  der(v3) = -lambda - 1;
  0 = q1^2 + q2^2 - q3;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-8));
end Paraboloid;
