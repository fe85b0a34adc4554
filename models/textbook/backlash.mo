model Backlash "Two wheels with play between them, driven to and fro"
  parameter Real k = 400, d = 1, b = 0.05, J1 = 0.1, J2 = 0.4;
  Real p1(start = 0, fixed = true), w1(start = 0, fixed = true), p2(start = 0, fixed = true), w2(start = 0, fixed = true), e, T;
equation
  der(p1) = w1;
  der(p2) = w2;
  e = p1 - p2;
  T = if e > b then k*(e - b) elseif e < -b then k*(e + b) else 0;
  J1*der(w1) = 2*sin(3*time) - T - d*w1;
  J2*der(w2) = T - 0.3*w2;
  annotation(experiment(StopTime = 5));
end Backlash;
