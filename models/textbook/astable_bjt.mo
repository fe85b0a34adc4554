model AstableMultivibrator "The blinker of two transistors and two capacitors"
  parameter Real Vcc = 5, Rc = 1e3, Rb = 47e3, C = 1e-6, Cbe = 1e-9;
  parameter Real Is = 1e-14, Vt = 0.0259, bf = 100, br = 1;
  Real vb1(start = 0.6, fixed = true), vb2(start = 0, fixed = true), vc1, vc2;
  Real u1(start = 0, fixed = true) "vc1 - vb2", u2(start = 0, fixed = true) "vc2 - vb1";
  Real f1, r1, f2, r2 "A, through the junctions";
equation
  u1 = vc1 - vb2;
  u2 = vc2 - vb1;
  f1 = Is*(exp(vb1/Vt) - 1);
  r1 = Is*(exp((vb1 - vc1)/Vt) - 1);
  f2 = Is*(exp(vb2/Vt) - 1);
  r2 = Is*(exp((vb2 - vc2)/Vt) - 1);
  (Vcc - vc1)/Rc = f1 - r1*(1 + 1/br) + C*der(u1);
  (Vcc - vc2)/Rc = f2 - r2*(1 + 1/br) + C*der(u2);
  (Vcc - vb1)/Rb + C*der(u2) = f1/bf + r1/br + Cbe*der(vb1);
  (Vcc - vb2)/Rb + C*der(u1) = f2/bf + r2/br + Cbe*der(vb2);
  annotation(experiment(StopTime = 0.15));
end AstableMultivibrator;
