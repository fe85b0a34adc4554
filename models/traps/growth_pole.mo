model GrowthPole "x = 1/(1 - t) ends at t = 1"
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = x^2;
  der(v) = x;
end GrowthPole;
