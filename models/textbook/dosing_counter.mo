model BottleFilling "Bottles pass a filling machine: a counter and a reject gate"
  Real level(start = 0, fixed = true) "ml", inflow;
  Integer bottles(start = 0, fixed = true), rejected(start = 0, fixed = true);
  discrete Real last(start = 0, fixed = true);
equation
  inflow = 200*(1 + 0.2*sin(3*time));
  der(level) = inflow;
  when sample(2.5, 2.5) then
    bottles = pre(bottles) + 1;
    last = pre(level);
    reinit(level, 0);
    if pre(level) < 480 then
      rejected = pre(rejected) + 1;
    else
      rejected = pre(rejected);
    end if;
  end when;
  annotation(experiment(StopTime = 30.7));
end BottleFilling;
