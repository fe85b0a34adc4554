model Glycolysis "Glycolysis oscillates (Selkov)"
  parameter Real a = 0.08, b = 0.6;
  Real adp(start = 1), f6p(start = 1);
equation
  der(adp) = -adp + a*f6p + adp^2*f6p;
  der(f6p) = b - a*f6p - adp^2*f6p;
  annotation(experiment(StopTime = 30));
end Glycolysis;
