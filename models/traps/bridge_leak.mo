model BridgeLeak "the same with diodes of 1 mOhm when closed and 0.1 MOhm when open, as Modelica's ideal diodes have them"
  parameter Real R = 10, Rs = 0.1, C = 1e-3, Ron = 1e-3, Goff = 1e-5;
  Real u, is, va, vb, vc(start = 0, fixed = true);
  Real s[4], i[4], v[4];
  Boolean off[4](each start = true);
equation
  u = 10*sin(314.159265358979*time);
  for k in 1:4 loop
    off[k] = s[k] < 0;
    v[k] = s[k]*(if off[k] then 1 else Ron);
    i[k] = s[k]*(if off[k] then Goff else 1);
  end for;
  u - Rs*is = va - vb;
  v[1] = va - vc;
  v[2] = 0 - va;
  v[3] = vb - vc;
  v[4] = 0 - vb;
  is = i[1] - i[2];
  is = i[4] - i[3];
  C*der(vc) = i[1] + i[3] - vc/R;
  annotation(experiment(StopTime = 0.04));
end BridgeLeak;
