model Coffee "A cup of coffee cools; milk is added after 5 minutes"
  parameter Real Troom = 22 "degC", h = 0.06 "1/min";
  Real T(start = 85, fixed = true) "degC";
equation
  der(T) = -h*(T - Troom);
  when time > 5 then
    reinit(T, 0.85*pre(T) + 0.15*6);
  end when;
  annotation(experiment(StopTime = 20));
end Coffee;
