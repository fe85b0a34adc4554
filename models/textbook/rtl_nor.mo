model RTLNor "NOR gate of resistors and two transistors (RTL)"
  parameter Real Vcc = 3.6, Rc = 640, Rb = 450, Is = 1e-14, Vt = 0.026, bf = 50, br = 0.5;
  Real a, b, va(start = 0), vb(start = 0), y(start = 3), fa, ra, fb, rb;
equation
  a = 1.8*(1 - cos(time));
  b = if time > 7 then 3.6 else 0;
  fa = Is*(exp(va/Vt) - 1);
  ra = Is*(exp((va - y)/Vt) - 1);
  fb = Is*(exp(vb/Vt) - 1);
  rb = Is*(exp((vb - y)/Vt) - 1);
  (a - va)/Rb = fa/bf + ra/br;
  (b - vb)/Rb = fb/bf + rb/br;
  (Vcc - y)/Rc = fa - ra*(1 + 1/br) + fb - rb*(1 + 1/br);
  annotation(experiment(StopTime = 10));
end RTLNor;
