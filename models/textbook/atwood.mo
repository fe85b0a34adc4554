model Atwood "Atwood's machine with a heavy pulley, index 3"
  parameter Real m1 = 1.2, m2 = 1.0, J = 0.002, R = 0.1, L = 3, g = 9.81;
  Real x1(start = 1, fixed = true) "down from the axle", x2, v1(start = 0, fixed = true), v2, w;
  Real S1, S2 "N, in the rope";
equation
  der(x1) = v1;
  der(x2) = v2;
  x1 + x2 = L;
  m1*der(v1) = m1*g - S1;
  m2*der(v2) = m2*g - S2;
  v1 = w*R;
  J*der(w) = (S1 - S2)*R;
  annotation(experiment(StopTime = 1.5));
end Atwood;
