model BufferStop "A wagon runs against a buffer that can only push"
  parameter Real m = 500, k = 2e5, d = 2000;
  Real s(start = -3, fixed = true) "m, from the buffer", v(start = 2, fixed = true), F;
equation
  der(s) = v;
  m*der(v) = -F;
  F = if s > 0 then max(0, k*s + d*v) else 0;
  annotation(experiment(StopTime = 3));
end BufferStop;
