model Torricelli "A tank runs empty through a hole (Torricelli)"
  parameter Real A = 0.5 "m2", a = 1e-3 "m2", g = 9.81;
  Real h(start = 1.2, fixed = true) "m", v;
equation
  v = sqrt(2*g*max(h, 0));
  A*der(h) = -a*v;
  annotation(experiment(StopTime = 300));
end Torricelli;
