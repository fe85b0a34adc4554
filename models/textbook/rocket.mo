model Rocket "A rocket burns its fuel and goes on without it"
  parameter Real m0 = 1000, mEmpty = 250, q = 15 "kg/s", c = 2500 "m/s", g = 9.81;
  Real m(start = m0, fixed = true), v(start = 0, fixed = true), h(start = 0, fixed = true);
  Boolean burning;
equation
  burning = m > mEmpty;
  der(m) = if burning then -q else 0;
  m*der(v) = (if burning then q*c else 0) - m*g;
  der(h) = v;
  annotation(experiment(StopTime = 80));
end Rocket;
