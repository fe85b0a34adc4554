// L. Wunderlich, thesis, TU Berlin, 2005, (8.1). Solution q = (sin t, cos t), lambda = sin t cos
// t.
model UnitCircle "Body on the unit circle, forces that depend on velocities, index 3"
  Real q1(start = 0, fixed = true), q2(start = 1);
  Real v1(start = 1, fixed = true), v2(start = 0);
  Real lambda(start = 0);
equation
  der(q1) = v1;
  der(q2) = v2;
  der(v1) = -q1 - 2*q1*v1*v2 - 2*q1*lambda;
  der(v2) = -v1 + 2*q1*q2^2 - 2*q2*lambda;
  q1^2 + q2^2 = 1;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end UnitCircle;
