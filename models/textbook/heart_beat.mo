model Windkessel "Pressure in an artery: the heart ejects in each beat (Windkessel)"
  parameter Real R = 1.1 "mmHg s/ml", C = 1.3 "ml/mmHg", T = 0.8 "s, of a beat";
  Real tau, Q "ml/s", p(start = 80, fixed = true) "mmHg";
equation
  tau = mod(time, T);
  Q = if tau < 0.3 then 400*sin(3.14159265358979*tau/0.3)^2 else 0;
  C*der(p) = Q - p/R;
  annotation(experiment(StopTime = 6));
end Windkessel;
