model NoRod "a pendulum whose rod has no length"
  parameter Real L = 0;
  Real x(start = L), y, vx, vy, lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -lambda*x;
  der(vy) = -lambda*y - 9.81;
  x^2 + y^2 = L^2;
  annotation(experiment(StopTime = 1));
end NoRod;
