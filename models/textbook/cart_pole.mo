model CartPole "A stick is balanced on a cart by state feedback"
  parameter Real M = 1, m = 0.2, l = 0.6, g = 9.81;
  parameter Real K[4] = {-3, -5, -45, -11};
  Real z[4](start = {0, 0, 0.3, 0}, each fixed = true) "place, speed, angle, rate";
  Real F, a, alpha;
equation
  F = -K*z;
  der(z) = {z[2], a, z[4], alpha};
  (M + m)*a + m*l*alpha*cos(z[3]) - m*l*z[4]^2*sin(z[3]) = F;
  a*cos(z[3]) + l*alpha = g*sin(z[3]);
  annotation(experiment(StopTime = 6));
end CartPole;
