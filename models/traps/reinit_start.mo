model ReinitStart "a condition that is true from the beginning is no edge; at the second time it is"
  Real x(start = -1, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = if time < 1 then 2 else -2;
  when x <= 0 then
    n = pre(n) + 1;
    reinit(x, 0.5);
  end when;
  annotation(experiment(StopTime = 1.9));
end ReinitStart;
