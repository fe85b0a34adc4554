model BatchDistillation "Ethanol is distilled off a kettle (Rayleigh)"
  parameter Real alpha = 4 "relative volatility", D = 0.5 "mol/min";
  Real n(start = 100, fixed = true) "mol in the kettle", x(start = 0.3, fixed = true), y;
  Real distillate;
equation
  y = alpha*x/(1 + (alpha - 1)*x);
  der(n) = -D;
  der(n*x) = -D*y;
  distillate = 100 - n;
  annotation(experiment(StopTime = 150));
end BatchDistillation;
