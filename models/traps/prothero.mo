model Prothero "A stiff lag behind a smooth input: y' = -(y - cos t)/T - sin t, y = cos t"
  parameter Real T = 1e-6;
  Real y(start = 1, fixed = true);
equation
  der(y) = -(y - cos(time))/T - sin(time);
  annotation(experiment(StopTime = 10));
end Prothero;
