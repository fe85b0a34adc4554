model ZenoBall "bounces ever lower: accumulates at t = sqrt(2 h0/g) (1 + 2 e/(1 - e))"
  parameter Real g = 9.81, e = 0.6;
  Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -g;
  when h < 0 then
    reinit(v, -e*pre(v));
  end when;
  annotation(experiment(StopTime = 5));
end ZenoBall;
