model FrictionRest "friction brings the mass to rest, where a force smaller than it moves it to and fro"
  Real v(start = 2, fixed = true), x(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -0.7*tanh(v/1e-3) + 0.3*sin(3*time);
  annotation(experiment(StopTime = 6));
end FrictionRest;
