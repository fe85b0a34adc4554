model M
  Real x;
  /* never closed
equation
  x = 1;
end M;
