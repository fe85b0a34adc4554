model ChatterSlide "a switch without hysteresis slides along x = 0.3"
  Real x(start = 1, fixed = true);
equation
  der(x) = if x > 0.3 then -1 else 1;
  annotation(experiment(StopTime = 2));
end ChatterSlide;
