model Siphon "A siphon empties a tank whenever it is full"
  Real h(start = 0, fixed = true), qout;
  Boolean flows;
initial equation
  pre(flows) = false;
equation
  flows = h > 1 or pre(flows) and h > 0.2;
  qout = if flows then 0.3*sqrt(h) else 0;
  der(h) = 0.05 - qout;
  annotation(experiment(StopTime = 60));
end Siphon;
