model Trace "a substance of 1e-11 beside a temperature of 1"
  parameter Real k = 2, kd = 0.5, s = 1e-11;
  Real c(start = 1e-11, fixed = true), d(start = 0, fixed = true);
  Real T(start = 1, fixed = true);
equation
  der(T) = -0.1*T;
  der(c) = -k*c*(1 + 50*sin(20*time)^2) + s;
  der(d) = k*c - kd*d;
  annotation(experiment(StopTime = 10));
end Trace;
