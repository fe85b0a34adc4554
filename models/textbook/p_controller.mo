model PController "Proportional control of a lag: an offset remains"
  parameter Real Kp = 4, T = 2;
  Real y(start = 0, fixed = true), e, u;
equation
  e = 1 - y;
  u = Kp*e;
  T*der(y) = u - y;
  annotation(experiment(StopTime = 3));
end PController;
