model LongLoop
  Real a, b, c, d, e, f;
equation
  a + b = 1;
  b + c = 2;
  c + d = 3;
  a*c + d = 4;
  d + e = 5;
  e + f = 6;
  f + a = 7;
end LongLoop;
