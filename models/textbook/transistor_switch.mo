model TransistorSwitch "A transistor switches a relay coil with a free-wheeling diode"
  parameter Real Vcc = 12, Rb = 1e3, L = 0.1, R = 120, Is = 1e-14, Vt = 0.026, bf = 150, br = 2;
  Real vin, vb(start = 0), vc(start = 12), icc, iec, i(start = 0, fixed = true), id;
equation
  vin = if time > 1e-3 and time < 6e-3 then 5 else 0;
  icc = Is*(exp(vb/Vt) - 1);
  iec = Is*(exp((vb - vc)/Vt) - 1);
  (vin - vb)/Rb = icc/bf + iec/br;
  id = 1e-9*(exp((vc - Vcc)/0.05) - 1);
  i = icc - iec*(1 + 1/br) + id;
  L*der(i) = Vcc - vc - R*i;
  annotation(experiment(StopTime = 0.012));
end TransistorSwitch;
