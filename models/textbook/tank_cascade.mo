model TankCascade "A tracer passes five stirred tanks"
  constant Integer n = 5;
  parameter Real tau = 2 "min, of each tank";
  Real c[n](each start = 0, each fixed = true);
  Real cin = if time < 1 then 10 else 0;
equation
  der(c[1]) = (cin - c[1])/tau;
  for i in 2:n loop
    der(c[i]) = (c[i - 1] - c[i])/tau;
  end for;
  annotation(experiment(StopTime = 30));
end TankCascade;
