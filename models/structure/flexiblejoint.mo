// One link behind a flexible joint, on a prescribed path: Hessenberg form of size 5, as A. De
// Luca's robots with elastic joints (K. E. Brenan, S. L. Campbell, L. R. Petzold, 1996, 2.5).
model FlexibleJoint "Link driven through a spring along a prescribed path, index 5"
  parameter Real w = 1 "of the given function of time";
  parameter Real I = 1 "inertia of the link", J = 0.5 "of the motor";
  parameter Real k = 10 "stiffness of the joint", mgl = 9.81 "weight times length";
  Real q, p "angles of link and motor";
  Real vq, vp;
  Real u "torque of the motor";
equation
  der(q) = vq;
  der(p) = vp;
  I*der(vq) = k*(p - q) - mgl*sin(q);
  J*der(vp) = u - k*(p - q);
  q = 0.5*sin(w*time) "path";
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end FlexibleJoint;
