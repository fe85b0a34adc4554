model CenterTap "Full-wave rectifier with a centre tap, two diodes and a capacitor, in mA and kOhm"
  parameter Real Is = 1e-6 "mA", Vt = 0.04 "V", C = 100 "uF", R = 1.5 "kOhm", Rw = 0.01 "kOhm";
  Real u, ua, ub, i1, i2, v(start = 0, fixed = true);
equation
  u = 9*sin(2*3.14159265358979*50*time/1000) "time in ms";
  ua = u - Rw*i1;
  ub = -u - Rw*i2;
  i1 = Is*(exp((ua - v)/Vt) - 1);
  i2 = Is*(exp((ub - v)/Vt) - 1);
  C*der(v) = i1 + i2 - v/R;
  annotation(experiment(StopTime = 100));
end CenterTap;
