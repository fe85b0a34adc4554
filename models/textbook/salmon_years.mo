model SalmonYears "Age groups that move on once a year (Leslie), fished all year"
  parameter Real birth[3] = {0, 1.5, 2.5}, stay[2] = {0.5, 0.6};
  Real n[3](start = {100, 50, 20}, each fixed = true);
equation
  for i in 1:3 loop
    der(n[i]) = -0.1*n[i];
  end for;
  when sample(1, 1) then
    reinit(n[1], birth*pre(n));
    reinit(n[2], stay[1]*pre(n[1]));
    reinit(n[3], stay[2]*pre(n[2]));
  end when;
  annotation(experiment(StopTime = 10.5));
end SalmonYears;
