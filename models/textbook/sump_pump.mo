model SumpPump "A pump in a sump runs between two levels while it rains"
  Real h(start = 0.2, fixed = true), rain "l/s";
  Boolean run(start = false, fixed = true);
  Integer starts(start = 0, fixed = true);
equation
  rain = 0.8 + 0.6*sin(time/100);
  when h > 0.6 then
    run = true;
    starts = pre(starts) + 1;
  elsewhen h < 0.1 then
    run = false;
  end when;
  300*der(h) = rain - (if run then 3 else 0);
  annotation(experiment(StopTime = 1000));
end SumpPump;
