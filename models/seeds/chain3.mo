model Chain3 "linear chain of index 3"
  Real z1, z2, z3;
equation
  der(z2) + z1 = sin(time);
  der(z3) + z2 = cos(2*time);
  z3 = exp(-time);
  annotation(experiment(StopTime = 1));
end Chain3;
