model HydraulicCylinder "A valve drives a cylinder with a heavy load, in mm, s, MPa and kN"
  parameter Real A = 2 "1000 mm2", m = 0.5 "t", V = 400 "1000 mm3", K = 1200 "MPa";
  Real p1(start = 5, fixed = true), p2(start = 5, fixed = true), x(start = 0, fixed = true), v(start = 0, fixed = true);
  Real u, q1 "1000 mm3/s", q2;
equation
  u = if time < 0.1 then 0 elseif time < 0.6 then 1 else 0;
  q1 = u*40*sqrt(max(0, 10 - p1));
  q2 = u*40*sqrt(max(0, p2));
  V/K*der(p1) = q1 - A*v - 2*(p1 - p2);
  V/K*der(p2) = A*v - q2 + 2*(p1 - p2);
  der(x) = v;
  m*der(v) = 1000*(A*(p1 - p2) - 0.02*v);
  annotation(experiment(StopTime = 1));
end HydraulicCylinder;
