model amplified "y is a million times the difference of two states of size 1000: rounding alone makes it uncertain by 2e-7"
  Real a(start=1000, fixed=true), b(start=1000, fixed=true), y;
  Real e(start=0, fixed=true);
equation
  der(a) = cos(time) - 1e-3*a;
  der(b) = cos(time) - 1e-3*a - 1e-6*sin(3*time);
  y = 1e6*(a - b);
  der(e) = y - e;
  annotation(experiment(StopTime=10));
end amplified;
