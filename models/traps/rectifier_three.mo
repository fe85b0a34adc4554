model RectifierThree "three-phase bridge of ideal diodes, inductive load"
  parameter Real L=0.05, R=5;
  Real i(start=0,fixed=true), u[3], vp, vn, vt[3], vb[3], it[3], ib[3], st[3], sb[3];
  Boolean ot[3](each start=true), ob[3](each start=true);
equation
  for k in 1:3 loop
    u[k] = 100*sin(314.159265*time + 0.3 - 2.0943951*(k-1));
    vt[k] = u[k] - vp; vb[k] = vn - u[k];
    ot[k] = st[k] < 0; ob[k] = sb[k] < 0;
    vt[k] = if ot[k] then st[k] else 0; it[k] = if ot[k] then 0 else st[k];
    vb[k] = if ob[k] then sb[k] else 0; ib[k] = if ob[k] then 0 else sb[k];
  end for;
  it[1]+it[2]+it[3] = i; ib[1]+ib[2]+ib[3] = i;
  L*der(i) = vp - vn - R*i;
  annotation(experiment(StopTime=0.03));
end RectifierThree;
