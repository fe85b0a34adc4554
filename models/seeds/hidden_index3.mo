model HiddenIndex3 "differentiation index 1 on its solution, 3 beside it: y[3] N der(y) + y = 0"
  parameter Real delta = 0 "size of a perturbation";
  parameter Real omega = 1 "its frequency";
  Real y[3];
equation
  y[3]*der(y[2]) + y[1] = 0;
  y[3]*der(y[3]) + y[2] = 0;
  y[3] = delta*sin(omega*time);
  annotation(experiment(StopTime = 1));
end HiddenIndex3;
