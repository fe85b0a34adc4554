model start_square_slope "the square of a derivative: x = (1 + t/2)^2 with the positive root"
  Real x(start = 1, fixed = true);
equation
  der(x)^2 = x;
  annotation(experiment(StopTime = 1));
end start_square_slope;
