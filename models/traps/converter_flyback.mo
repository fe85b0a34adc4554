model ConverterFlyback "ideal switch and diode on two windings: the magnetising current changes sides"
  parameter Real Vin=24, Lm=1e-3, C=1e-4, R=20, T=1e-4, d=0.4, n=2;
  Real im(start = 0, fixed = true), vC(start = 0, fixed = true), vp, isw, vs, vd, id, vsw;
  Boolean on, off(start=true);
  Real s;
equation
  on = mod(time,T) < d*T;
  Vin = vp + vsw;
  if on then vsw = 0; else isw = 0; end if;
  Lm*der(im) = vp;
  im = isw + id/n;
  vs = vp/n;
  -vs = vd + vC;
  off = s < 0;
  if off then vd = s; id = 0; else vd = 0; id = s; end if;
  C*der(vC) = id - vC/R;
  annotation(experiment(StopTime=3e-3));
end ConverterFlyback;
