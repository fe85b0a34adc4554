model PendulumWall "Pendulum that hits a wall below its pivot; every impact keeps a part of its speed, index 3"
  parameter Real m(unit = "kg") = 1 "mass";
  parameter Real L(unit = "m") = 1 "length";
  parameter Real g(unit = "m/s2") = 9.81 "gravity";
  parameter Real e(unit = "1", min = 0, max = 1) = 0.95 "speed after an impact against before";
  Real x(unit = "m", start = L) "position, to the right";
  Real y(unit = "m", start = 0, fixed = true) "position, upwards";
  Real vx(unit = "m/s", start = 0);
  Real vy(unit = "m/s", start = 0, fixed = true);
  Real lambda(unit = "N/m") "force in the rod per length";
  discrete Integer impacts(start = 0, fixed = true) "so far";
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -lambda*x;
  m*der(vy) = -lambda*y - m*g;
  x^2 + y^2 = L^2 "rod";
  when x <= 0 then
    reinit(vx, -e*pre(vx));
    impacts = pre(impacts) + 1;
  end when;
  annotation(experiment(StartTime = 0, StopTime = 20, Tolerance = 1e-7));
end PendulumWall;
