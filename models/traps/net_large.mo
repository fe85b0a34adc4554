model NetLarge "a diode beside a chain of 1200 unknowns: bdf begins, and fails where the diode begins to conduct"
  Real x[1200](each start = 0, each fixed = true), v, i;
equation
  der(x[1]) = x[2] - 2*x[1] + i;
  for k in 2:1199 loop
    der(x[k]) = (x[k - 1] - 2*x[k] + x[k + 1])*100;
  end for;
  der(x[1200]) = -x[1200];
  i = 1e-14*(exp(v/0.025) - 1);
  v + 1e3*i = 5*sin(time);
  annotation(experiment(StopTime = 20));
end NetLarge;
