// d = a - b has d' = -2 q, q |q| = 2 d: d = (sqrt(d0) - sqrt(2) t)^2 until t = 1/sqrt(2), and then 0.
model rest_tanks "A flow between two tanks ends: its equation cannot be solved for it there, and it stays"
  Real a(start = 2, fixed = true), b(start = 1, fixed = true), q;
equation
  der(a) = -q;
  der(b) = q;
  a - b = 0.5*q*abs(q);
  annotation(experiment(StopTime = 1));
end rest_tanks;
