model ConverterFreewheel "half-wave rectifier with an inductive load and a free-wheeling diode"
  parameter Real L=0.05, R=5;
  Real i(start = 0, fixed = true), vs, vx, v1, i1, v2, i2, s1, s2;
  Boolean o1(start=true), o2(start=true);
equation
  vs = 100*sin(314.159265*time);
  v1 = vs - vx; v2 = -vx;
  o1 = s1 < 0; o2 = s2 < 0;
  v1 = if o1 then s1 else 0; i1 = if o1 then 0 else s1;
  v2 = if o2 then s2 else 0; i2 = if o2 then 0 else s2;
  i = i1 + i2;
  L*der(i) = vx - R*i;
  annotation(experiment(StopTime=0.05));
end ConverterFreewheel;
