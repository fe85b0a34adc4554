model Area "perturbation index 2, differentiation index 1: perturbations of y2 and y3 enclose an area"
  parameter Real delta = 0 "size of the perturbation";
  parameter Real omega = 1 "its frequency: der(y1) = delta^2*omega, however small delta is";
  Real y1(start = 0, fixed = true), y2, y3;
equation
  der(y1) - y3*der(y2) + y2*der(y3) = 0;
  y2 = delta*sin(omega*time);
  y3 = delta*cos(omega*time);
  annotation(experiment(StopTime = 1));
end Area;
