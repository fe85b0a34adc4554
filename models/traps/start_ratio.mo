model start_ratio "0/0 at the guess: a = 2 b, a + b = 3 x"
  Real x(start = 1, fixed = true), a, b;
equation
  der(x) = -x;
  a/b = 2;
  a + b = 3*x;
  annotation(experiment(StopTime = 1));
end start_ratio;
