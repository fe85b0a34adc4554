model M
  Real x, y;
equation
  assert(x > 1, "C:\dir");
end M;
