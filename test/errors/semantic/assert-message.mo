model M
  Real x = 1;
equation
  assert(x > 0);
  assert(x, "positive");
  assert(x > 0, 3);
  assert(x > 0, "positive", Level.fatal);
end M;
