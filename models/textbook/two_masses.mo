model TwoMasses "Two masses between three springs exchange their energy"
  parameter Real k = 50, kc = 4;
  Real x[2](start = {0.1, 0}, each fixed = true), v[2](each start = 0, each fixed = true);
equation
  der(x) = v;
  der(v[1]) = -k*x[1] + kc*(x[2] - x[1]);
  der(v[2]) = -k*x[2] + kc*(x[1] - x[2]);
  annotation(experiment(StopTime = 12));
end TwoMasses;
