function road "height of the road under a wheel that passes t seconds after the start"
  input Real t(unit = "s");
  input Real height(unit = "m") "of the bump";
  output Real u(unit = "m");
algorithm
  u := height*exp(-((t - 1)/0.15)^2);
end road;

function gasSpring "force of a gas spring beyond its static load, on the upper end"
  input Real rise(unit = "m") "of the upper end above the lower one, from rest";
  input Real load(unit = "N") "static load";
  input Real length(unit = "m") "of the column of gas at rest";
  output Real force(unit = "N");
algorithm
  force := load*((1 + rise/length)^(-1.3) - 1);
end gasSpring;

model Truck "Planar truck of seven bodies on a bump, 11 positions and one joint, index 3"
  parameter Real v0(unit = "m/s") = 15 "speed";
  parameter Real bump(unit = "m") = 0.08 "height of the bump";
  parameter Real wheelbase(unit = "m") = 4.5;
  parameter Real m1(unit = "kg") = 1400 "rear axle";
  parameter Real m2(unit = "kg") = 700 "front axle";
  parameter Real m3(unit = "kg") = 1900 "chassis";
  parameter Real J3(unit = "kg.m2") = 9500;
  parameter Real m4(unit = "kg") = 850 "engine";
  parameter Real J4(unit = "kg.m2") = 120;
  parameter Real m5(unit = "kg") = 900 "cabin";
  parameter Real J5(unit = "kg.m2") = 600;
  parameter Real m6(unit = "kg") = 100 "driver and seat";
  parameter Real m7(unit = "kg") = 9000 "loading area and load";
  parameter Real J7(unit = "kg.m2") = 26000;
  parameter Real xr(unit = "m") = -2.6 "places along the chassis: rear axle";
  parameter Real xf(unit = "m") = 1.9 "front axle";
  parameter Real xe[2](each unit = "m") = {1.2, 2.2} "mounts of the engine";
  parameter Real xc[2](each unit = "m") = {1.1, 2.9} "mounts of the cabin";
  parameter Real xs(unit = "m") = 0.1 "seat, from the centre of the cabin";
  parameter Real xh(unit = "m") = -3.4 "hinge of the loading area";
  parameter Real xl(unit = "m") = 0.6 "support of the loading area";
  parameter Real zl(unit = "m") = -1.3 "its centre";
  parameter Real ke(unit = "N/m") = 1.1e6, de(unit = "N.s/m") = 8e3;
  parameter Real kc(unit = "N/m") = 9e4, dc(unit = "N.s/m") = 6e3;
  parameter Real ks(unit = "N/m") = 9e3, ds(unit = "N.s/m") = 700;
  parameter Real kl(unit = "N/m") = 4e6, dl(unit = "N.s/m") = 4e4;
  parameter Real kt[2](each unit = "N/m") = {4.4e6, 1.8e6} "tyres, rear and front";
  parameter Real dt[2](each unit = "N.s/m") = {600, 600};
  parameter Real load[2](each unit = "N") = {9e4, 3.5e4} "static loads of the gas springs";
  parameter Real gas[2](each unit = "m") = {0.4, 0.35} "their lengths";
  parameter Real dg[2](each unit = "N.s/m") = {2.6e4, 1.8e4} "dampers beside them";
  Real p1(unit = "m", start = 0, fixed = true) "rear axle, all from rest";
  Real p2(unit = "m", start = 0, fixed = true) "front axle";
  Real p3(unit = "m", start = 0, fixed = true) "chassis";
  Real p4(unit = "rad", start = 0, fixed = true) "its pitch";
  Real p5(unit = "m", start = 0, fixed = true) "engine";
  Real p6(unit = "rad", start = 0, fixed = true) "its pitch";
  Real p7(unit = "m", start = 0, fixed = true) "cabin";
  Real p8(unit = "rad", start = 0, fixed = true) "its pitch";
  Real p9(unit = "m", start = 0, fixed = true) "driver's seat";
  Real p10(unit = "m", start = 0) "loading area";
  Real p11(unit = "rad", start = 0, fixed = true) "its pitch";
  Real v1(unit = "m/s", start = 0, fixed = true);
  Real v2(unit = "m/s", start = 0, fixed = true);
  Real v3(unit = "m/s", start = 0, fixed = true);
  Real v4(unit = "rad/s", start = 0, fixed = true);
  Real v5(unit = "m/s", start = 0, fixed = true);
  Real v6(unit = "rad/s", start = 0, fixed = true);
  Real v7(unit = "m/s", start = 0, fixed = true);
  Real v8(unit = "rad/s", start = 0, fixed = true);
  Real v9(unit = "m/s", start = 0, fixed = true);
  Real v10(unit = "m/s", start = 0);
  Real v11(unit = "rad/s", start = 0, fixed = true);
  Real lambda(unit = "N") "force in the hinge beyond its static part, on the chassis";
  Real Ft[2](each unit = "N") "tyres on the axles";
  Real Fg[2](each unit = "N") "suspensions on the chassis";
  Real Fe[2](each unit = "N") "mounts on the engine";
  Real Fc[2](each unit = "N") "mounts on the cabin";
  Real Fs(unit = "N") "on the seat";
  Real Fl(unit = "N") "support on the loading area";
equation
  der(p1) = v1;
  der(p2) = v2;
  der(p3) = v3;
  der(p4) = v4;
  der(p5) = v5;
  der(p6) = v6;
  der(p7) = v7;
  der(p8) = v8;
  der(p9) = v9;
  der(p10) = v10;
  der(p11) = v11;
  Ft[1] = kt[1]*(road(time - wheelbase/v0, bump) - p1) - dt[1]*v1;
  Ft[2] = kt[2]*(road(time, bump) - p2) - dt[2]*v2;
  Fg[1] = gasSpring(p3 + xr*sin(p4) - p1, load[1], gas[1]) - dg[1]*(v3 + xr*cos(p4)*v4 - v1);
  Fg[2] = gasSpring(p3 + xf*sin(p4) - p2, load[2], gas[2]) - dg[2]*(v3 + xf*cos(p4)*v4 - v2);
  for i in 1:2 loop
    Fe[i] = ke*(p3 + xe[i]*sin(p4) - p5 - (xe[i] - 1.7)*sin(p6))
      + de*(v3 + xe[i]*cos(p4)*v4 - v5 - (xe[i] - 1.7)*cos(p6)*v6);
    Fc[i] = kc*(p3 + xc[i]*sin(p4) - p7 - (xc[i] - 2)*sin(p8))
      + dc*(v3 + xc[i]*cos(p4)*v4 - v7 - (xc[i] - 2)*cos(p8)*v8);
  end for;
  Fs = ks*(p7 + xs*sin(p8) - p9) + ds*(v7 + xs*cos(p8)*v8 - v9);
  Fl = kl*(p3 + xl*sin(p4) - p10 - (xl - zl)*sin(p11))
    + dl*(v3 + xl*cos(p4)*v4 - v10 - (xl - zl)*cos(p11)*v11);
  m1*der(v1) = Ft[1] - Fg[1];
  m2*der(v2) = Ft[2] - Fg[2];
  m3*der(v3) = Fg[1] + Fg[2] - Fe[1] - Fe[2] - Fc[1] - Fc[2] - Fl + lambda;
  J3*der(v4) = (xr*Fg[1] + xf*Fg[2] - xe[1]*Fe[1] - xe[2]*Fe[2] - xc[1]*Fc[1] - xc[2]*Fc[2]
    - xl*Fl + xh*lambda)*cos(p4);
  m4*der(v5) = Fe[1] + Fe[2];
  J4*der(v6) = ((xe[1] - 1.7)*Fe[1] + (xe[2] - 1.7)*Fe[2])*cos(p6);
  m5*der(v7) = Fc[1] + Fc[2] - Fs;
  J5*der(v8) = ((xc[1] - 2)*Fc[1] + (xc[2] - 2)*Fc[2] - xs*Fs)*cos(p8);
  m6*der(v9) = Fs;
  m7*der(v10) = Fl - lambda;
  J7*der(v11) = ((xl - zl)*Fl - (xh - zl)*lambda)*cos(p11);
  p10 + (xh - zl)*sin(p11) = p3 + xh*sin(p4) "the hinge";
  annotation(experiment(StartTime = 0, StopTime = 20, Tolerance = 1e-6));
end Truck;
