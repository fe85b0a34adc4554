model BridgeSix "three phases, six diodes, resistive load: the load voltage at t = 1/600 + k/300 is sqrt(3) 100"
  parameter Real R = 10, Ron = 1e-5, Goff = 1e-5, w = 314.159265358979;
  Real u[3], n "star point", p, m "rails", x(start = 0, fixed = true) "integral of the load voltage";
  Real s[6](each start = 1), i[6], v[6];
  Boolean off[6](each start = true);
equation
  for k in 1:3 loop
    u[k] = n + 100*sin(w*time - (k - 1)*2.09439510239320);
    v[k] = u[k] - p;
    v[k + 3] = m - u[k];
  end for;
  for k in 1:6 loop
    off[k] = s[k] < 0;
    v[k] = s[k]*(if off[k] then 1 else Ron);
    i[k] = s[k]*(if off[k] then Goff else 1);
  end for;
  m = 0;
  i[1] + i[2] + i[3] = i[4] + i[5] + i[6];
  i[1] + i[2] + i[3] = (p - m)/R;
  der(x) = p - m;
  annotation(experiment(StopTime = 0.02));
end BridgeSix;
