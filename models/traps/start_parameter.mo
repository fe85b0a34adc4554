model start_parameter "an initial equation with two roots: the start value chooses"
  parameter Real p(start = -1, fixed = false);
  Real x(start = 1, fixed = true);
initial equation
  p^2 = 4;
equation
  der(x) = p*x;
  annotation(experiment(StopTime = 1));
end start_parameter;
