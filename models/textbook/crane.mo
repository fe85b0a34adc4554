model Crane "A trolley drives 4 m and its load swings"
  parameter Real mt = 200, ml = 500, L = 6, g = 9.81;
  Real s(start = 0, fixed = true), v(start = 0, fixed = true);
  Real phi(start = 0, fixed = true), w(start = 0, fixed = true), F, xLoad;
equation
  F = if time < 2 then 600 elseif time < 4 then -600 else -200*v;
  der(s) = v;
  der(phi) = w;
  (mt + ml)*der(v) + ml*L*(der(w)*cos(phi) - w^2*sin(phi)) = F;
  L*der(w) + der(v)*cos(phi) + g*sin(phi) = 0;
  xLoad = s + L*sin(phi);
  annotation(experiment(StopTime = 10));
end Crane;
