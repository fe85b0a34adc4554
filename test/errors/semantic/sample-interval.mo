model M
  Real x;
  Boolean b = sample(0, -1);
  Boolean c = sample(x, 1);
equation
  der(x) = 1;
end M;
