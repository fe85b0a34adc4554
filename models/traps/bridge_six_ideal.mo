model BridgeSixIdeal "three phases with resistors, six ideal diodes, resistive load; the mean load voltage of t = 0 .. 0.02 follows from 6 pulses"
  parameter Real R = 10, Rs = 1e-6, w = 314.159265358979;
  Real u[3], p, x(start = 0, fixed = true) "integral of the load voltage";
  Real s[6](start = {1, -1, 1, -1, 1, -1}), i[6], v[6], n;
  Boolean off[6](each start = true);
equation
  for k in 1:3 loop
    u[k] = n + 100*sin(w*time + 0.1 - (k - 1)*2.09439510239320) - Rs*(i[k] - i[k + 3]);
    v[k] = u[k] - p;
    v[k + 3] = -u[k];
  end for;
  for k in 1:6 loop
    off[k] = s[k] < 0;
    v[k] = s[k]*(if off[k] then 1 else 0);
    i[k] = s[k]*(if off[k] then 0 else 1);
  end for;
  i[1] + i[2] + i[3] = i[4] + i[5] + i[6];
  i[1] + i[2] + i[3] = p/R;
  der(x) = p;
  annotation(experiment(StopTime = 0.02));
end BridgeSixIdeal;
