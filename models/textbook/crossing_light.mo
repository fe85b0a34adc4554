model CrossingLight "A light for pedestrians who press a button"
  Boolean button, walk(start = false, fixed = true), wish(start = false, fixed = true);
  discrete Real since(start = -100, fixed = true);
  Integer presses(start = 0, fixed = true), changes(start = 0, fixed = true);
  Real crossed(start = 0, fixed = true);
equation
  button = mod(time, 17) < 1 and time > 3;
  when edge(button) then
    presses = pre(presses) + 1;
  end when;
  when change(walk) then
    changes = pre(changes) + 1;
  end when;
  der(crossed) = if walk then 1.5 else 0;
algorithm
  when button then
    wish := true;
  end when;
  when wish and not walk and time > since + 25 then
    walk := true;
    wish := false;
    since := time;
  elsewhen walk and time > since + 8 then
    walk := false;
    since := time;
  end when;
  annotation(experiment(StopTime = 100));
end CrossingLight;
