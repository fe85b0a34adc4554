model start_products "two equations without a gradient at a = b = 0: a = 3, b = 2 or both negative"
  Real x(start = 1, fixed = true), a, b;
equation
  der(x) = 0;
  a*b = 6*x;
  a^2 - b^2 = 5*x;
  annotation(experiment(StopTime = 1));
end start_products;
