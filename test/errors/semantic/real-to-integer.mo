model M
  Integer k = 1.5;
  parameter Integer n = 2.0;
  Real x[n];
equation
  x = {1, 2};
end M;
