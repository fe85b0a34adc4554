model DoublePendulumXY "Double pendulum of two point masses on rods, index 3"
  parameter Real m[2] = {1, 0.5}, l[2] = {1, 0.8}, g = 9.81;
  Real x1(start = 0.8414709848078965, fixed = true), y1(start = -0.5403023058681398);
  Real x2(start = 1.225011415691259, fixed = true), y2(start = -1.2423683554304347);
  Real vx1(start = 0, fixed = true), vy1(start = 0), vx2(start = 0, fixed = true), vy2(start = 0);
  Real F1 "force per length", F2;
equation
  der(x1) = vx1;
  der(y1) = vy1;
  der(x2) = vx2;
  der(y2) = vy2;
  m[1]*der(vx1) = -F1*x1 + F2*(x2 - x1);
  m[1]*der(vy1) = -F1*y1 + F2*(y2 - y1) - m[1]*g;
  m[2]*der(vx2) = -F2*(x2 - x1);
  m[2]*der(vy2) = -F2*(y2 - y1) - m[2]*g;
  x1^2 + y1^2 = l[1]^2;
  (x2 - x1)^2 + (y2 - y1)^2 = l[2]^2;
  annotation(experiment(StopTime = 3));
end DoublePendulumXY;
