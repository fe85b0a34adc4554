model M
  Real x;
  Boolean b;
equation
  x = true;
  b = 3;
end M;
