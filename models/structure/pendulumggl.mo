// The stabilised form of C. W. Gear, B. Leimkuhler, G. K. Gupta, J. Comput. Appl. Math. 12/13
// (1985): both constraints and a second multiplier, which vanishes on the solution.
model PendulumGGL "Plane pendulum in the stabilised form of Gear, Gupta and Leimkuhler, index 2"
  parameter Real m(unit = "kg") = 1, L(unit = "m") = 1, g(unit = "m/s2") = 1;
  Real x(unit = "m", start = L), y(unit = "m", start = 0, fixed = true);
  Real vx(unit = "m/s", start = 0), vy(unit = "m/s", start = 0, fixed = true);
  Real lambda(unit = "N/m");
  Real mu(unit = "1/s") "keeps the position on the circle";
equation
  der(x) = vx - mu*x;
  der(y) = vy - mu*y;
  m*der(vx) = -lambda*x;
  m*der(vy) = -lambda*y - m*g;
  x^2 + y^2 = L^2 "rod";
  x*vx + y*vy = 0 "velocity along the rod";
  annotation(experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-7));
end PendulumGGL;
