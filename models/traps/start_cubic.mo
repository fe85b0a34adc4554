model start_cubic "triple root at the guess: y = 2"
  Real x(start = 8, fixed = true), y;
equation
  der(x) = -0.1*y;
  y^3 = x;
  annotation(experiment(StopTime = 1));
end start_cubic;
