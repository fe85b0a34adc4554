// E. Hairer and G. Wanner, Solving ODEs II, (1.32), by S. L. Campbell and C. W. Gear: y[m] N y' +
// y = 0 with a nilpotent block N. Differentiation index 1, perturbation index m; the structure
// says m, too.
model CampbellGear "Two indices as far apart as you like, here m = 4"
  parameter Integer m = 4;
  parameter Real eps = 0, omega = 1 "of a perturbation";
  Real y[m](each start = 0);
equation
  for i in 1:m - 1 loop
    y[m]*der(y[i + 1]) + y[i] = 0;
  end for;
  y[m] = eps*sin(omega*time);
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end CampbellGear;
