model PendulumForce "the force of a rod is looked at"
  Real x(start = 1, fixed = true), y(start = 0), vx, vy(start = 0, fixed = true), lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - 1;
  x^2 + y^2 = 1;
  annotation(experiment(StopTime = 10));
end PendulumForce;
