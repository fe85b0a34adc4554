model Andrews "Andrews' squeezing mechanism: seven bodies, three closed loops, index 3"
  function springTorque "torque of the spring between point C and the body at angle gamma about B"
    input Real gamma(unit = "rad");
    input Real hook[2](each unit = "m") "where the spring is fixed, seen from B";
    input Real sc(unit = "m");
    input Real sd(unit = "m");
    input Real c0(unit = "N/m");
    input Real l0(unit = "m");
    output Real torque(unit = "N.m");
  protected
    Real x(unit = "m") "free end of the spring, seen from B";
    Real y(unit = "m");
    Real length(unit = "m");
    Real pull(unit = "N/m") "force per length";
  algorithm
    x := sd*cos(gamma) + sc*sin(gamma);
    y := sd*sin(gamma) - sc*cos(gamma);
    length := sqrt((x - hook[1])^2 + (y - hook[2])^2);
    pull := c0*(length - l0)/length;
    torque := pull*(y*(x - hook[1]) - x*(y - hook[2]));
  end springTorque;

  parameter Real m1(unit = "kg") = 0.04325;
  parameter Real m2(unit = "kg") = 0.00365;
  parameter Real m3(unit = "kg") = 0.02373;
  parameter Real m4(unit = "kg") = 0.00706;
  parameter Real m5(unit = "kg") = 0.07050;
  parameter Real m6(unit = "kg") = 0.00706;
  parameter Real m7(unit = "kg") = 0.05498;
  parameter Real i1(unit = "kg.m2") = 2.194e-6;
  parameter Real i2(unit = "kg.m2") = 4.410e-7;
  parameter Real i3(unit = "kg.m2") = 5.255e-6;
  parameter Real i4(unit = "kg.m2") = 5.667e-7;
  parameter Real i5(unit = "kg.m2") = 1.169e-5;
  parameter Real i6(unit = "kg.m2") = 5.667e-7;
  parameter Real i7(unit = "kg.m2") = 1.912e-5;
  parameter Real xa(unit = "m") = -0.06934 "fixed point A";
  parameter Real ya(unit = "m") = -0.00227;
  parameter Real xb(unit = "m") = -0.03635 "fixed point B";
  parameter Real yb(unit = "m") = 0.03273;
  parameter Real xc(unit = "m") = 0.014 "fixed point C, where the spring is hooked";
  parameter Real yc(unit = "m") = 0.072;
  parameter Real d(unit = "m") = 0.028;
  parameter Real da(unit = "m") = 0.0115;
  parameter Real e(unit = "m") = 0.02;
  parameter Real ea(unit = "m") = 0.01421;
  parameter Real rr(unit = "m") = 0.007 "crank";
  parameter Real ra(unit = "m") = 0.00092;
  parameter Real ss(unit = "m") = 0.035;
  parameter Real sa(unit = "m") = 0.01874;
  parameter Real sb(unit = "m") = 0.01043;
  parameter Real sc(unit = "m") = 0.018;
  parameter Real sd(unit = "m") = 0.02;
  parameter Real ta(unit = "m") = 0.02308;
  parameter Real tb(unit = "m") = 0.00916;
  parameter Real u(unit = "m") = 0.04;
  parameter Real ua(unit = "m") = 0.01228;
  parameter Real ub(unit = "m") = 0.00449;
  parameter Real zf(unit = "m") = 0.02;
  parameter Real zt(unit = "m") = 0.04;
  parameter Real fa(unit = "m") = 0.01421;
  parameter Real mom(unit = "N.m") = 0.033 "torque of the motor on the crank";
  parameter Real c0(unit = "N/m") = 4530 "stiffness of the spring";
  parameter Real l0(unit = "m") = 0.07785 "length of the relaxed spring";
  Real q[7](each unit = "rad",
    start = {-0.0617138900142764496358948458001, 0, 0.455279819163070380255912382449,
      0.222668390165885884674473185609, 0.487364979543842550225598953530,
      -0.222668390165885884674473185609, 1.23054744454982119249735015568},
    fixed = {false, true, false, false, false, false, false})
    "beta, theta, gamma, phi, delta, omega, epsilon";
  Real v[7](each unit = "rad/s", each start = 0,
    fixed = {false, true, false, false, false, false, false}, each nominal = 1e3)
    "angular velocities";
  Real lambda[6](each unit = "N", start = {98.57, -6.12, 0, 0, 0, 0}, each nominal = 1e2)
    "forces in the cut joints";
equation
  der(q) = v;
  (m1*ra^2 + m2*(rr^2 - 2*da*rr*cos(q[2]) + da^2) + i1 + i2)*der(v[1])
    + (m2*(da^2 - da*rr*cos(q[2])) + i2)*der(v[2])
    = mom - m2*da*rr*v[2]*(v[2] + 2*v[1])*sin(q[2])
    - (d*sin(q[1] + q[2]) - rr*sin(q[1]))*(lambda[1] + lambda[3] + lambda[5])
    - (rr*cos(q[1]) - d*cos(q[1] + q[2]))*(lambda[2] + lambda[4] + lambda[6]) "crank";
  (m2*(da^2 - da*rr*cos(q[2])) + i2)*der(v[1]) + (m2*da^2 + i2)*der(v[2])
    = m2*da*rr*v[1]^2*sin(q[2])
    - d*sin(q[1] + q[2])*(lambda[1] + lambda[3] + lambda[5])
    + d*cos(q[1] + q[2])*(lambda[2] + lambda[4] + lambda[6]) "coupler";
  (m3*(sa^2 + sb^2) + i3)*der(v[3])
    = springTorque(q[3], {xc - xb, yc - yb}, sc, sd, c0, l0)
    + ss*(cos(q[3])*lambda[1] + sin(q[3])*lambda[2]) "body with the spring";
  (m4*(e - ea)^2 + i4)*der(v[4]) + (m4*((e - ea)^2 + zt*(e - ea)*sin(q[4])) + i4)*der(v[5])
    = m4*zt*(e - ea)*v[5]^2*cos(q[4])
    + e*(cos(q[4] + q[5])*lambda[3] + sin(q[4] + q[5])*lambda[4]) "left pair, inner";
  (m4*((e - ea)^2 + zt*(e - ea)*sin(q[4])) + i4)*der(v[4])
    + (m4*(zt^2 + 2*zt*(e - ea)*sin(q[4]) + (e - ea)^2) + m5*(ta^2 + tb^2) + i4 + i5)*der(v[5])
    = -m4*zt*(e - ea)*v[4]*(v[4] + 2*v[5])*cos(q[4])
    + (e*cos(q[4] + q[5]) - zt*sin(q[5]))*lambda[3]
    + (e*sin(q[4] + q[5]) + zt*cos(q[5]))*lambda[4] "left pair, outer";
  (m6*(zf - fa)^2 + i6)*der(v[6]) + (m6*((zf - fa)^2 - u*(zf - fa)*sin(q[6])) + i6)*der(v[7])
    = -m6*u*(zf - fa)*v[7]^2*cos(q[6])
    - zf*(sin(q[6] + q[7])*lambda[5] - cos(q[6] + q[7])*lambda[6]) "right pair, inner";
  (m6*((zf - fa)^2 - u*(zf - fa)*sin(q[6])) + i6)*der(v[6])
    + (m6*((zf - fa)^2 - 2*u*(zf - fa)*sin(q[6]) + u^2) + m7*(ua^2 + ub^2) + i6 + i7)*der(v[7])
    = m6*u*(zf - fa)*v[6]*(v[6] + 2*v[7])*cos(q[6])
    - (zf*sin(q[6] + q[7]) - u*cos(q[7]))*lambda[5]
    + (zf*cos(q[6] + q[7]) + u*sin(q[7]))*lambda[6] "right pair, outer";
  rr*cos(q[1]) - d*cos(q[1] + q[2]) - ss*sin(q[3]) = xb "loop through B";
  rr*sin(q[1]) - d*sin(q[1] + q[2]) + ss*cos(q[3]) = yb;
  rr*cos(q[1]) - d*cos(q[1] + q[2]) - e*sin(q[4] + q[5]) - zt*cos(q[5]) = xa "left loop through A";
  rr*sin(q[1]) - d*sin(q[1] + q[2]) + e*cos(q[4] + q[5]) - zt*sin(q[5]) = ya;
  rr*cos(q[1]) - d*cos(q[1] + q[2]) - zf*cos(q[6] + q[7]) - u*sin(q[7]) = xa "right loop through A";
  rr*sin(q[1]) - d*sin(q[1] + q[2]) - zf*sin(q[6] + q[7]) + u*cos(q[7]) = ya;
  annotation(experiment(StartTime = 0, StopTime = 0.03, Tolerance = 1e-7));
end Andrews;
