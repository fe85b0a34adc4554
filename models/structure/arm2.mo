// Two rigid links with motors in the joints and a prescribed path of the hand (K. E. Brenan,
// S. L. Campbell, L. R. Petzold, 1996, 1.3.2): the torques have index 3, nothing is free.
model Arm2 "Two-link robot arm on a prescribed path, index 3"
  parameter Real w = 1 "of the given function of time";
  parameter Real m1 = 1, m2 = 1 "point masses at elbow and hand";
  parameter Real l1 = 1, l2 = 1 "links";
  parameter Real g = 9.81;
  Real q1(start = 0.3), q2(start = 0.8) "angle of the upper arm, of the lower arm against it";
  Real v1, v2;
  Real u1, u2 "torques";
equation
  der(q1) = v1;
  der(q2) = v2;
  ((m1 + m2)*l1^2 + m2*l2^2 + 2*m2*l1*l2*cos(q2))*der(v1) + (m2*l2^2 + m2*l1*l2*cos(q2))*der(v2)
    = m2*l1*l2*sin(q2)*(2*v1*v2 + v2^2) - (m1 + m2)*g*l1*cos(q1) - m2*g*l2*cos(q1 + q2) + u1;
  (m2*l2^2 + m2*l1*l2*cos(q2))*der(v1) + m2*l2^2*der(v2)
    = -m2*l1*l2*sin(q2)*v1^2 - m2*g*l2*cos(q1 + q2) + u2;
  l1*cos(q1) + l2*cos(q1 + q2) = 1.2 + 0.2*cos(w*time) "path of the hand";
  l1*sin(q1) + l2*sin(q1 + q2) = 1.2 + 0.2*sin(w*time);
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end Arm2;
