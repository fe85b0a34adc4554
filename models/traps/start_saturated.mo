model start_saturated "adsorption that saturates: of two concentrations the one near the guess; steps of Newton's method pass the pole at c = -0.01"
  parameter Real K = 1000;
  Real q, c(start = 1);
equation
  c + K*q = 2 + 1.9*sin(time);
  q = 5*c/(1 + 100*c);
  annotation(experiment(StopTime = 6));
end start_saturated;
