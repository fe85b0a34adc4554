model Gaussian "A smooth pulse after a long rest; its area is sqrt(pi)/10"
  Real x(start = 0, fixed = true);
  Real y(start = 1, fixed = true) "keeps the steps of the run honest";
equation
  der(x) = exp(-((time - 5)/0.1)^2);
  der(y) = -y + cos(time);
  annotation(experiment(StopTime = 10));
end Gaussian;
