model Condenser "Steady heat exchanger with the logarithmic mean temperature difference"
  parameter Real kA = 2.5 "kW/K", C1 = 4 "kW/K", C2 = 3;
  Real T1in, T1out(start = 50), T2out(start = 40), d1(start = 20), d2(start = 30), lm, Q(start = 100);
equation
  T1in = 80 + 10*sin(0.5*time);
  d1 = T1in - T2out;
  d2 = T1out - 20;
  lm = (d1 - d2)/log(d1/d2);
  Q = kA*lm;
  Q = C1*(T1in - T1out);
  Q = C2*(T2out - 20);
  annotation(experiment(StopTime = 10));
end Condenser;
