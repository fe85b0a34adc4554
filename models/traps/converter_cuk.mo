model ConverterCuk "ideal switch and diode between two inductors: both block in each period"
  parameter Real Vin=12, L1=1e-3, L2=1e-3, C1=2e-5, C2=1e-4, R=10, T=2e-5, d=0.4;
  Real i1(start=0,fixed=true), i2(start=0,fixed=true), v1(start=12,fixed=true), v2(start=0,fixed=true), va, vb, isw, id, s;
  Boolean on, off(start=true);
equation
  on = mod(time,T) < d*T;
  L1*der(i1) = Vin - va;
  va - vb = v1;
  if on then va = 0; else isw = 0; end if;
  off = s < 0;
  vb = if off then s else 0; id = if off then 0 else s;
  C1*der(v1) = i1 - isw;
  i1 + i2 = isw + id;
  L2*der(i2) = -vb - v2;
  C2*der(v2) = i2 - v2/R;
  annotation(experiment(StopTime=4e-3));
end ConverterCuk;
