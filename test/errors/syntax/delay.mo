model M
  Real x, y;
equation
  x = delay(y, 0.1);
  y = cardinality(x);
end M;
