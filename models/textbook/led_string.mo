model LedString "Three LEDs in series at a supply that is turned up"
  parameter Real Is = 1e-18 "A", nVt = 0.05 "V", R = 100;
  Real u, u1, u2, u3, i;
equation
  u = 12*time;
  i = Is*(exp(u1/nVt) - 1);
  i = Is*(exp(u2/nVt) - 1);
  i = Is*(exp(u3/nVt) - 1);
  u = u1 + u2 + u3 + R*i;
  annotation(experiment(StopTime = 1));
end LedString;
