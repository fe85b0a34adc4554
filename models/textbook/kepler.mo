model Satellite "Satellite on an elliptic orbit, times in hours"
  parameter Real mu = 398600.4418*3600^2 "km3/h2";
  Real x(start = 8000, fixed = true) "km", y(start = 0, fixed = true);
  Real vx(start = 0, fixed = true) "km/h", vy(start = 29000, fixed = true);
  Real r;
equation
  r = sqrt(x^2 + y^2);
  der(x) = vx;
  der(y) = vy;
  der(vx) = -mu*x/r^3;
  der(vy) = -mu*y/r^3;
  annotation(experiment(StopTime = 5));
end Satellite;
