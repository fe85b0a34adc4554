model Cyclist "A cyclist pedals with constant power over a hill"
  parameter Real m = 85, P = 220, cr = 0.005, cwA = 0.35, rho = 1.2, g = 9.81;
  Real s(start = 0, fixed = true), v(start = 5, fixed = true), slope, Fdrive;
equation
  der(s) = v;
  slope = 0.04*sin(s/200);
  Fdrive*v = P;
  m*der(v) = Fdrive - cr*m*g - m*g*slope - rho/2*cwA*v^2;
  annotation(experiment(StopTime = 120));
end Cyclist;
