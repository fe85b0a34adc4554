model Parachute "A skydiver opens the parachute after 20 s"
  parameter Real m = 80, g = 9.81;
  Real h(start = 1500, fixed = true), v(start = 0, fixed = true) "downwards", c;
equation
  c = if time < 20 then 0.25 else 30;
  der(h) = -v;
  m*der(v) = m*g - c*v^2;
  annotation(experiment(StopTime = 30));
end Parachute;
