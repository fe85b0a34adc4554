model M
  Real x;
  Real x;
equation
  der(x) = 1;
end M;
