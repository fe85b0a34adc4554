model ConverterBuck "ideal switch in pulses, ideal free-wheeling diode"
  parameter Real Vin=24, L=1e-3, C=1e-4, R=5, T=1e-4, d=0.5;
  Real iL(start = 0, fixed = true), vC(start = 0, fixed = true), vx, isw, vd, id, vs;
  Boolean on, off(start=true);
  Real s;
equation
  on = mod(time,T) < d*T;
  vs = Vin - vx;
  if on then vs = 0; else isw = 0; end if;
  iL = isw + id;
  vd = -vx;
  off = s < 0;
  if off then vd = s; id = 0; else vd = 0; id = s; end if;
  L*der(iL) = vx - vC;
  C*der(vC) = iL - vC/R;
  annotation(experiment(StopTime=3e-3));
end ConverterBuck;
