model ChatterBand "the same with a hysteresis of 1e-12: it chatters"
  Real x(start = 1, fixed = true);
  Boolean up(start = false, fixed = true);
equation
  der(x) = if up then 1 else -1;
  when x < 0.3 - 1e-12 then
    up = true;
  elsewhen x > 0.3 + 1e-12 then
    up = false;
  end when;
  annotation(experiment(StopTime = 2));
end ChatterBand;
