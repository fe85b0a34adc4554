model M
  Real x;
  Boolean b = x == 1;
equation
  der(x) = 1;
end M;
