model OutputCurrent "mains voltage behind a small RC filter; its current, and the power, are reported only"
  parameter Real R = 10, C = 1e-10;
  Real v(start = 0, fixed = true), u, d, i, P;
equation
  u = 325*sin(314.159265358979*time);
  C*der(v) = (u - v)/R;
  d = u - v;
  i = d/R;
  P = u*i;
  annotation(experiment(StopTime = 0.02, Interval = 0.001));
end OutputCurrent;
