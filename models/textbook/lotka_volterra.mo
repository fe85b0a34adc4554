model LotkaVolterra "Hares and lynxes"
  parameter Real a = 1.1, b = 0.4, c = 0.4, d = 0.1;
  Real hares(start = 10), lynxes(start = 5);
equation
  der(hares) = a*hares - b*hares*lynxes;
  der(lynxes) = -c*lynxes + d*hares*lynxes;
  annotation(experiment(StopTime = 20));
end LotkaVolterra;
