model ConverterBoostPulses "ideal switch in pulses, ideal diode with the parameter s, of index 2 where both block"
  parameter Real Vin=12, L=1e-3, C=1e-4, R=20, T=1e-4, d=0.5;
  Real iL(start = 0, fixed = true), vC(start=12,fixed=true), vsw, isw, vd, id;
  Boolean on, off(start=true);
  Real s;
equation
  on = mod(time,T) < d*T;
  L*der(iL) = Vin - vsw;
  if on then vsw = 0; else isw = 0; end if;
  iL = isw + id;
  vd = vsw - vC;
  off = s < 0;
  if off then vd = s; id = 0; else vd = 0; id = s; end if;
  C*der(vC) = id - vC/R;
  annotation(experiment(StopTime=2e-3));
end ConverterBoostPulses;
