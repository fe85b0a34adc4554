model RectifierFull "bridge of ideal diodes, inductive load: all diodes are at zero at the start"
  parameter Real L=0.05, R=5;
  Real i(start=0,fixed=true), vs, va, vb, vp, vn, i1,i2,i3,i4, s1,s2,s3,s4, is1;
  Boolean o1(start=true), o2(start=true), o3(start=true), o4(start=true);
equation
  vs = 100*sin(314.159265*time);
  va - vb = vs; vn = 0;
  va - vp = if o1 then s1 else 0; i1 = if o1 then 0 else s1;
  vb - vp = if o2 then s2 else 0; i2 = if o2 then 0 else s2;
  vn - va = if o3 then s3 else 0; i3 = if o3 then 0 else s3;
  vn - vb = if o4 then s4 else 0; i4 = if o4 then 0 else s4;
  o1 = s1 < 0; o2 = s2 < 0; o3 = s3 < 0; o4 = s4 < 0;
  i1 + i2 = i;
  is1 = i1 - i3;
  i2 - i4 = -is1;
  L*der(i) = vp - vn - R*i;
  annotation(experiment(StopTime=0.05));
end RectifierFull;
