model M
  Real x;
  Boolean b = true;
equation
  x = 1 + b;
end M;
