model CommonEmitter "Amplifier with a bipolar transistor in common emitter circuit (Ebers-Moll)"
  parameter Real Vcc = 12, R1 = 47e3, R2 = 10e3, Rc = 2.2e3, Re = 560;
  parameter Real Cin = 1e-6, Rg = 1e3;
  parameter Real Is = 1e-14, Vt = 0.0259, bf = 200, br = 2;
  Real vb(start = 1.8), ve(start = 1.2), vc(start = 7);
  Real icc, iec, ib, ic, ie;
  Real u(start = 0) "across the coupling capacitor";
  Real ig;
initial equation
  der(u) = 0;
equation
  icc = Is*(exp((vb - ve)/Vt) - 1);
  iec = Is*(exp((vb - vc)/Vt) - 1);
  ic = icc - iec*(1 + 1/br);
  ib = icc/bf + iec/br;
  ie = ic + ib;
  Re*ie = ve;
  Vcc - vc = Rc*ic;
  (Vcc - vb)/R1 + ig = vb/R2 + ib;
  Rg*ig = 0.5*sin(2*3.14159265358979*1000*time) - u - vb;
  Cin*der(u) = ig;
  annotation(experiment(StopTime = 2e-3));
end CommonEmitter;
