model SourceLoop "three sources in a loop; the ground is right"
  Real a, b, c, i1, i2, i3, iL(start = 0);
equation
  der(iL) = a - 10*iL;
  a - b = 5;
  b - c = 3;
  c - a = -7;
  i1 - i3 + iL = 0;
  i2 - i1 = 0;
  c = 0;
end SourceLoop;
