model SpringDamper "Mass, spring and damper with a force"
  parameter Real m = 2, d = 1.5, k = 80;
  Real x(start = 0.1, fixed = true), v(start = 0, fixed = true), a, Fs, Fd;
equation
  v = der(x);
  a = der(v);
  Fs = k*x;
  Fd = d*v;
  m*a = -Fs - Fd + 5*cos(4*time);
  annotation(experiment(StopTime = 6));
end SpringDamper;
