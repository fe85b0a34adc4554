model Throw "how fast to throw a ball up so that it is at 0.36 m after 1.5 s, and two bounces"
  parameter Real e = 0.8 "part of the velocity that a bounce leaves";
  Real h(start = 1, fixed = true, unit = "m");
  Real v(start = 1, unit = "m/s") "not fixed: a guess";
equation
  der(h) = v;
  der(v) = -9.81;
  when h <= 0 then
    reinit(v, -e*pre(v));
  end when;
  annotation(experiment(StopTime = 1.5), __Daedal(terminal = {h == 0.36}));
end Throw;
