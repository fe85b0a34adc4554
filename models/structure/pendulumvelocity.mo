// The pendulum with its constraint differentiated once: Hessenberg form of size 2 (E. Hairer and
// G. Wanner, Solving ODEs II, VII.1 and VII.2). The rod's length is an invariant, not a
// constraint.
model PendulumVelocity "Plane pendulum with the constraint on its velocity, index 2"
  parameter Real m(unit = "kg") = 1, g(unit = "m/s2") = 1;
  Real x(unit = "m", start = 1, fixed = true), y(unit = "m", start = 0, fixed = true);
  Real vx(unit = "m/s", start = 0), vy(unit = "m/s", start = 0, fixed = true);
  Real lambda(unit = "N/m");
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -lambda*x;
  m*der(vy) = -lambda*y - m*g;
  x*vx + y*vy = 0 "velocity along the rod";
  annotation(experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-7));
end PendulumVelocity;
