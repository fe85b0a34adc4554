model SolarCell "Solar cell that charges a capacitor on a cloudy day"
  parameter Real Is = 1e-9, Vt = 0.0257, n = 1.5, Rs = 0.02, Rsh = 50;
  Real sun "A, photocurrent";
  Real v(start = 0, fixed = true), i(start = 3), vj;
equation
  sun = 3*(1 - 0.4*sin(time/2)^2);
  i = sun - Is*(exp(vj/(n*Vt)) - 1) - vj/Rsh;
  vj = v + Rs*i;
  50*der(v) = i - v/0.5;
  annotation(experiment(StopTime = 30));
end SolarCell;
