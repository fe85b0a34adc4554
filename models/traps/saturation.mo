model Saturation "a controller between bounds: x = t/2 up to t = 3/2, then 1 - exp(3 - 2 t)/4"
  Real x(start = 0, fixed = true), u;
equation
  u = max(-0.5, min(0.5, 2*(1 - x)));
  der(x) = u;
  annotation(experiment(StopTime = 4));
end Saturation;
