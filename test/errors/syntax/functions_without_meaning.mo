model M
  Real x, y;
equation
  x = spatialDistribution(y, x, y, true);
  y = cardinality(x);
end M;
