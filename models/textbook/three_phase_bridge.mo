model ThreePhaseBridge "Three-phase bridge of six diodes with a resistor"
  parameter Real Is = 1e-9, Vt = 0.05, R = 20, U = 50;
  Real u[3], p, n, up[3], down[3], i;
equation
  for k in 1:3 loop
    u[k] = U*sin(2*3.14159265358979*(50*time - (k - 1)/3));
    up[k] = Is*(exp((u[k] - p)/Vt) - 1);
    down[k] = Is*(exp((n - u[k])/Vt) - 1);
  end for;
  p - n = R*i;
  sum(up) = i;
  sum(down) = i;
  annotation(experiment(StopTime = 0.03));
end ThreePhaseBridge;
