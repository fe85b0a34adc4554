model CrankRocker "crank-rocker in absolute coordinates, three moving bars, index 3"
  parameter Real L1(unit="m")=0.1, L2(unit="m")=0.3, L3(unit="m")=0.25, d(unit="m")=0.3 "ground";
  parameter Real m1(unit="kg")=0.5, m2(unit="kg")=1.5, m3(unit="kg")=1.2;
  parameter Real J1(unit="kg.m2")=m1*L1^2/12, J2(unit="kg.m2")=m2*L2^2/12, J3(unit="kg.m2")=m3*L3^2/12;
  parameter Real g(unit="m/s2")=9.81, T0(unit="N.m")=0.8 "drive torque";
  Real x1, y1, p1(unit="rad", start=0.5, fixed=true);
  Real x2, y2, p2(unit="rad", start=0.9);
  Real x3, y3, p3(unit="rad", start=1.6);
  Real vx1, vy1, w1(unit="rad/s", start=0, fixed=true);
  Real vx2, vy2, w2;
  Real vx3, vy3, w3;
  Real la[8](each unit="N");
equation
  der(x1)=vx1; der(y1)=vy1; der(p1)=w1;
  der(x2)=vx2; der(y2)=vy2; der(p2)=w2;
  der(x3)=vx3; der(y3)=vy3; der(p3)=w3;
  // Newton
  m1*der(vx1) = la[1] - la[3];
  m1*der(vy1) = la[2] - la[4] - m1*g;
  J1*der(w1) = T0 + L1/2*sin(p1)*la[1] - L1/2*cos(p1)*la[2] + L1/2*sin(p1)*la[3] - L1/2*cos(p1)*la[4];
  m2*der(vx2) = la[3] - la[5];
  m2*der(vy2) = la[4] - la[6] - m2*g;
  J2*der(w2) = L2/2*sin(p2)*la[3] - L2/2*cos(p2)*la[4] + L2/2*sin(p2)*la[5] - L2/2*cos(p2)*la[6];
  m3*der(vx3) = la[5] + la[7];
  m3*der(vy3) = la[6] + la[8] - m3*g;
  J3*der(w3) = -L3/2*sin(p3)*la[5] + L3/2*cos(p3)*la[6] + L3/2*sin(p3)*la[7] - L3/2*cos(p3)*la[8];
  // joints
  x1 - L1/2*cos(p1) = 0;
  y1 - L1/2*sin(p1) = 0;
  x2 - L2/2*cos(p2) = x1 + L1/2*cos(p1);
  y2 - L2/2*sin(p2) = y1 + L1/2*sin(p1);
  x3 + L3/2*cos(p3) = x2 + L2/2*cos(p2);
  y3 + L3/2*sin(p3) = y2 + L2/2*sin(p2);
  x3 - L3/2*cos(p3) = d;
  y3 - L3/2*sin(p3) = 0;
  annotation(experiment(StopTime=3));
end CrankRocker;
