model ConverterBoost "ideal switch that opens, and ideal diode: the current of the inductor goes on"
  parameter Real Vin=12, L=1e-3, C=1e-4, R=20;
  Real iL(start=5,fixed=true), vC(start=24,fixed=true), vsw, isw, vd, id;
  Boolean on, dio;
  Real s(start=0);
equation
  on = time < 0.5e-3;
  L*der(iL) = Vin - vsw;
  if on then vsw = 0; else isw = 0; end if;
  iL = isw + id;
  vd = vsw - vC;
  dio = s > 0;
  if dio then vd = 0; id = s; else id = 0; vd = s; end if;
  C*der(vC) = id - vC/R;
  annotation(experiment(StopTime=1e-3));
end ConverterBoost;
