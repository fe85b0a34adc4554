model BridgeIf "four diodes by if-equations, resistive load: v = |u| R/(R + 2 Ron)"
  parameter Real R = 10, Ron = 0.1, Goff = 1e-6;
  Real u, va, vb, vp, i[4], v[4], x(start = 0, fixed = true);
equation
  u = 10*sin(314.159265358979*time);
  va - vb = u;
  v[1] = va - vp;
  v[2] = 0 - va;
  v[3] = vb - vp;
  v[4] = 0 - vb;
  for k in 1:4 loop
    if v[k] > 0 then
      i[k] = v[k]/Ron;
    else
      i[k] = Goff*v[k];
    end if;
  end for;
  i[1] + i[3] = vp/R;
  i[1] - i[2] = i[4] - i[3];
  der(x) = vp;
  annotation(experiment(StopTime = 0.04));
end BridgeIf;
