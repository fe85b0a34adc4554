model Bungee "A jumper falls until the rope is tight"
  parameter Real m = 75, L = 20, k = 60, d = 8, g = 9.81;
  Real y(start = 0, fixed = true) "downwards", v(start = 0, fixed = true), F;
  Boolean tight = y > L;
equation
  der(y) = v;
  F = if tight then k*(y - L) + d*v else 0;
  m*der(v) = m*g - F;
  annotation(experiment(StopTime = 12));
end Bungee;
