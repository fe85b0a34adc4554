model LeakingBucket "A bucket under a tap that drips: every drop is a jump of its level"
  Real V(start = 0, fixed = true) "ml";
  discrete Integer drops(start = 0, fixed = true);
equation
  der(V) = -0.05*sqrt(max(V, 0));
  when sample(1, 0.7) then
    reinit(V, pre(V) + 0.25);
    drops = pre(drops) + 1;
  end when;
  annotation(experiment(StopTime = 30));
end LeakingBucket;
