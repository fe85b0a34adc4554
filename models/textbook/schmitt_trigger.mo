model SchmittTrigger "A Schmitt trigger makes a clean square of a noisy sine and counts it"
  Real noisy;
  Boolean q(start = false, fixed = true);
  Integer n(start = 0, fixed = true);
  Real highTime(start = 0, fixed = true);
equation
  noisy = sin(time) + 0.2*sin(20*time + 1);
  q = noisy > (if pre(q) then -0.4 else 0.4);
  when q then
    n = pre(n) + 1;
  end when;
  der(highTime) = if q then 1 else 0;
  annotation(experiment(StopTime = 20));
end SchmittTrigger;
