model BrakingCar "A car brakes for a red light and stays there"
  parameter Real m = 1200, cw = 0.4 "N s2/m2", Fbrake = 6500;
  Real s(start = 0, fixed = true), v(start = 30, fixed = true), F;
  Boolean moving(start = true, fixed = true);
equation
  der(s) = v;
  m*der(v) = F;
  F = if not moving then 0 elseif time < 1.2 then -cw*v^2 else -cw*v^2 - Fbrake;
  when v <= 0 then
    moving = false;
    reinit(v, 0);
  end when;
  annotation(experiment(StopTime = 10));
end BrakingCar;
