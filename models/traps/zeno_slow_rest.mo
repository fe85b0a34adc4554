model ZenoSlowRest "below a speed of 1e-3 the ball stays on the floor"
  parameter Real g = 9.81, e = 0.8;
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Boolean rest(start = false, fixed = true);
equation
  der(h) = v;
  der(v) = if rest then 0 else -g;
  when h <= 0 then
    rest = pre(v) > -1e-3;
    reinit(v, if pre(v) > -1e-3 then 0 else -e*pre(v));
  end when;
  annotation(experiment(StopTime = 6));
end ZenoSlowRest;
