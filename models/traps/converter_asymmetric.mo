model ConverterAsymmetric "asymmetrical half-bridge: two switches, two free-wheeling diodes, the current ends in each period"
  parameter Real V=100, L=5e-3, R=5, T=1e-3;
  Real i(start = 0, fixed = true), va, vb, isH, isL, vsH, vsL, id1, id2, vd1, vd2, s1, s2;
  Boolean on, o1(start=true), o2(start=true);
equation
  on = mod(time,T) < 0.4*T;
  vsH = V - va; vsL = vb;
  vd1 = vb - V; vd2 = -va;
  if on then vsH = 0; else isH = 0; end if;
  if on then vsL = 0; else isL = 0; end if;
  o1 = s1 < 0; o2 = s2 < 0;
  if o1 then vd1 = s1; id1 = 0; else vd1 = 0; id1 = s1; end if;
  if o2 then vd2 = s2; id2 = 0; else vd2 = 0; id2 = s2; end if;
  isH + id2 = i;
  isL + id1 = i;
  L*der(i) = va - vb - R*i;
  annotation(experiment(StopTime=3e-3));
end ConverterAsymmetric;
