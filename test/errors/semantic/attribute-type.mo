model M
  Real x(start = true, unit = 3);
equation
  der(x) = 1;
end M;
