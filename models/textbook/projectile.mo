model Projectile "A ball is thrown through air and wind"
  parameter Real m = 0.145, c = 1.1e-3, g = 9.81, wind[2] = {-3, 0};
  Real r[2](start = {0, 1.8}, each fixed = true), v[2](start = {25, 20}, each fixed = true);
  Real u[2] "against the air", speed;
equation
  der(r) = v;
  u = v - wind;
  speed = sqrt(u*u);
  m*der(v) = -c*speed*u - {0, m*g};
  annotation(experiment(StopTime = 3));
end Projectile;
