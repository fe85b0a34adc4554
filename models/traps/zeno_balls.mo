model ZenoBalls "three balls from three heights; the lowest is the first to come to rest"
  parameter Real g = 9.81, e = 0.5;
  Real h[3](start = {2, 0.5, 1}, each fixed = true), v[3](each start = 0, each fixed = true);
equation
  der(h) = v;
  der(v) = fill(-g, 3);
  for i in 1:3 loop
    when h[i] <= 0 then
      reinit(v[i], -e*pre(v[i]));
    end when;
  end for;
  annotation(experiment(StopTime = 5));
end ZenoBalls;
