model Repressilator "Three genes in a ring"
  Real m[3](start = {1, 0.5, 0}, each fixed = true), p[3](each start = 0, each fixed = true);
equation
  for i in 1:3 loop
    der(m[i]) = 20/(1 + p[if i == 1 then 3 else i - 1]^2) + 0.03 - m[i];
    der(p[i]) = 2*(m[i] - p[i]);
  end for;
  annotation(experiment(StopTime = 25));
end Repressilator;
