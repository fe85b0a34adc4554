model DoublePendulum "Double pendulum by two angles"
  parameter Real m1 = 1, m2 = 0.5, l1 = 1, l2 = 0.8, g = 9.81;
  Real p1(start = 1, fixed = true), p2(start = 0.5, fixed = true);
  Real w1(start = 0, fixed = true), w2(start = 0, fixed = true);
  Real E "energy, should not change";
equation
  der(p1) = w1;
  der(p2) = w2;
  (m1 + m2)*l1*der(w1) + m2*l2*der(w2)*cos(p1 - p2) + m2*l2*w2^2*sin(p1 - p2) + (m1 + m2)*g*sin(p1) = 0;
  l2*der(w2) + l1*der(w1)*cos(p1 - p2) - l1*w1^2*sin(p1 - p2) + g*sin(p2) = 0;
  E = (m1 + m2)/2*l1^2*w1^2 + m2/2*l2^2*w2^2 + m2*l1*l2*w1*w2*cos(p1 - p2)
      - (m1 + m2)*g*l1*cos(p1) - m2*g*l2*cos(p2);
  annotation(experiment(StopTime = 4));
end DoublePendulum;
