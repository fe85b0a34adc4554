model AntiWindup "PI control with a limited actuator and back-calculation"
  parameter Real Kp = 2, Ti = 1.5, Tt = 0.5;
  Real y(start = 0, fixed = true), x(start = 0, fixed = true), I(start = 0, fixed = true), v, u, r;
equation
  r = if time < 10 then 1 else 0.2;
  v = Kp*(r - y) + I;
  u = if v > 1.2 then 1.2 elseif v < 0 then 0 else v;
  der(I) = Kp/Ti*(r - y) + (u - v)/Tt;
  2*der(x) = u - x;
  der(y) = x - y;
  annotation(experiment(StopTime = 20));
end AntiWindup;
