model HiddenIndex4 "differentiation index 1 on its solution, 4 beside it: y[4] N der(y) + y = 0"
  parameter Real delta = 0 "size of a perturbation";
  parameter Real omega = 1 "its frequency";
  Real y[4];
equation
  y[4]*der(y[2]) + y[1] = 0;
  y[4]*der(y[3]) + y[2] = 0;
  y[4]*der(y[4]) + y[3] = 0;
  y[4] = delta*sin(omega*time);
  annotation(experiment(StopTime = 1));
end HiddenIndex4;
