model QuarterCar "A quarter of a car drives over a bump"
  parameter Real ms = 300, mu = 40, ks = 18e3, ds = 1200, kt = 180e3;
  Real zs(start = 0, fixed = true), vs(start = 0, fixed = true);
  Real zu(start = 0, fixed = true), vu(start = 0, fixed = true), road, F;
equation
  road = if time > 0.5 and time < 0.6 then 0.05*(1 - cos(20*3.14159265358979*(time - 0.5)))/2 else 0;
  der(zs) = vs;
  der(zu) = vu;
  F = ks*(zu - zs) + ds*(vu - vs);
  ms*der(vs) = F;
  mu*der(vu) = kt*(road - zu) - F;
  annotation(experiment(StopTime = 2));
end QuarterCar;
