model Bratu "solid fuel ignition: two solutions below lambda = 3.5138"
  parameter Real lambda = 1;
  Real u(start = 0, fixed = true);
  Real v(start = 0);
equation
  der(u) = v;
  der(v) = -lambda*exp(u);
  annotation(experiment(StopTime = 1), __Daedal(terminal = {u == 0}));
end Bratu;
