model Late
  Real x(start = 1, fixed = true);
equation
  der(x) = -delay(x, 0.5);
end Late;
