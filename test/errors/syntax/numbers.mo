model M
  Real x, y;
equation
  x = 1.e + 2;
  x = 1..2;
  x = 1.2.3;
  x = 2x;
  x = .5;
  x = 1e999;
  x = 1e;
  x = 0x1F;
end M;
