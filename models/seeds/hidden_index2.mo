model HiddenIndex2 "differentiation index 1 on its solution, 2 beside it: y[2] N der(y) + y = 0"
  parameter Real delta = 0 "size of a perturbation";
  parameter Real omega = 1 "its frequency";
  Real y[2];
equation
  y[2]*der(y[2]) + y[1] = 0;
  y[2] = delta*sin(omega*time);
  annotation(experiment(StopTime = 1));
end HiddenIndex2;
