model PipeNetwork "Three pipes between a source and two users, turbulent"
  parameter Real r[4] = {2, 5, 3, 8};
  Real p0, p1(start = 5), p2(start = 4), q[4](start = {1, 0.5, 0.5, 0.1}), u1, u2;
equation
  p0 = 10 + 2*sin(time);
  p0 - p1 = r[1]*q[1]*abs(q[1]);
  p0 - p2 = r[2]*q[2]*abs(q[2]);
  p1 - p2 = r[3]*q[3]*abs(q[3]);
  p2 = r[4]*q[4]*abs(q[4]);
  u1 = 0.5 + 0.3*cos(2*time);
  u2 = 0;
  q[1] = q[3] + u1;
  q[2] + q[3] = q[4] + u2;
  annotation(experiment(StopTime = 6));
end PipeNetwork;
