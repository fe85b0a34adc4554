model ZenoVibrating "a ball above a table that vibrates; its height is a variable of its own"
  parameter Real e = 0.5, a = 0.01;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true), y, w;
equation
  y = a*sin(3*time);
  w = 3*a*cos(3*time);
  der(h) = v;
  der(v) = -10;
  when h < y then
    reinit(v, w - e*(pre(v) - w));
  end when;
  annotation(experiment(StopTime = 5));
end ZenoVibrating;
