model ZenoPlates "a ball between a floor and a closing lid: impacts of both accumulate where they meet"
  parameter Real a = 1 "the lid returns the ball faster, beyond 1";
  Real x(start = 0.5, fixed = true), v(start = 1, fixed = true);
  Real gap = 1 - time/2;
equation
  der(x) = v;
  der(v) = 0;
  when x <= 0 then
    reinit(v, abs(pre(v)));
  elsewhen x >= gap then
    reinit(v, -a*abs(pre(v)) - 1);
  end when;
  annotation(experiment(StopTime = 3));
end ZenoPlates;
