model SmithPredictor "PI control of a process with dead time, by Smith's predictor"
  parameter Real Td = 1, K = 2, T = 3, Kp = 1.2, Ti = 3;
  Real y(start = 0, fixed = true), ym(start = 0, fixed = true), I(start = 0, fixed = true), e, u;
equation
  e = 1 - y - ym + delay(ym, Td);
  der(I) = e/Ti;
  u = Kp*(e + I);
  T*der(y) = K*delay(u, Td) - y;
  T*der(ym) = K*u - ym;
  annotation(experiment(StopTime = 12));
end SmithPredictor;
