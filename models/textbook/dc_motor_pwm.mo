model MotorPWM "Direct current motor behind a chopper of 1 kHz"
  parameter Real R = 1.2, L = 3e-3, k = 0.05, J = 2e-4, d = 1e-4;
  parameter Real T = 1e-3;
  Real i(start = 0, fixed = true), w(start = 0, fixed = true), u;
equation
  u = if mod(time, T) < 0.4*T then 24 else 0;
  L*der(i) = u - R*i - k*w;
  J*der(w) = k*i - d*w;
  annotation(experiment(StopTime = 0.0503));
end MotorPWM;
