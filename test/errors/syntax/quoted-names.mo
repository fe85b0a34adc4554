model M
  Real x, y;
equation
  'a b = 1;
  '' = 2;
  'é' = 3;
  'a\q' = 4;
end M;
