model BridgeIdeal "four ideal diodes, a source with a resistor, a resistive load: vp = |u| R/(R + Rs)"
  parameter Real R = 10, Rs = 1, phase = 0.3;
  Real u, is, va, vb, vp, x(start = 0, fixed = true);
  Real s[4], i[4], v[4];
  Boolean off[4](each start = true);
equation
  u = 10*sin(314.159265358979*time + phase);
  for k in 1:4 loop
    off[k] = s[k] < 0;
    v[k] = s[k]*(if off[k] then 1 else 0);
    i[k] = s[k]*(if off[k] then 0 else 1);
  end for;
  u - Rs*is = va - vb;
  v[1] = va - vp;
  v[2] = 0 - va;
  v[3] = vb - vp;
  v[4] = 0 - vb;
  is = i[1] - i[2];
  is = i[4] - i[3];
  i[1] + i[3] = vp/R;
  der(x) = vp;
  annotation(experiment(StopTime = 0.04));
end BridgeIdeal;
