model Glucose "Glucose and insulin after a meal (minimal model), in minutes"
  parameter Real p1 = 0.03, p2 = 0.02, p3 = 1.3e-5, n = 0.14, gam = 4e-3, Gb = 90, Ib = 7;
  Real G(start = 90, fixed = true) "mg/dl", X(start = 0, fixed = true), I(start = 7, fixed = true), meal;
equation
  meal = if time < 10 then 0 else 8*exp(-0.05*(time - 10));
  der(G) = -p1*(G - Gb) - X*G + meal;
  der(X) = -p2*X + p3*(I - Ib);
  der(I) = gam*max(0, G - 100)*5 - n*(I - Ib);
  annotation(experiment(StopTime = 240));
end Glucose;
