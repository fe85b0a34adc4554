model RelayAutotune "Relay feedback makes a plant oscillate: Astrom and Hagglund's test"
  Real x[3](each start = 0, each fixed = true);
  Boolean up(start = true, fixed = true);
  discrete Real tUp(start = 0, fixed = true), period(start = 0, fixed = true);
equation
  der(x[1]) = (if up then 1 else -1) - x[1];
  der(x[2]) = x[1] - x[2];
  der(x[3]) = x[2] - x[3];
  when x[3] > 0.05 then
    up = false;
  elsewhen x[3] < -0.05 then
    up = true;
  end when;
  when up then
    tUp = time;
    period = time - pre(tUp);
  end when;
  annotation(experiment(StopTime = 30));
end RelayAutotune;
