model ZenoTwo "a ball on a ball on a floor, equal masses: impacts of two relations accumulate together"
  parameter Real g = 9.81, e = 0.5;
  Real x(start = 1, fixed = true), u(start = 0, fixed = true);
  Real y(start = 1.5, fixed = true), w(start = 0, fixed = true);
equation
  der(x) = u;
  der(u) = -g;
  der(y) = w;
  der(w) = -g;
  when x <= 0 then
    reinit(u, -e*pre(u));
  elsewhen y - x <= 0 then
    reinit(u, (pre(u) + pre(w) + e*(pre(w) - pre(u)))/2);
    reinit(w, (pre(u) + pre(w) - e*(pre(w) - pre(u)))/2);
  end when;
  annotation(experiment(StopTime = 10));
end ZenoTwo;
