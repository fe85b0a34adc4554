model M
  Real A[2, 2], x, y;
equation
  A = [1, 2; 3, 4;
  x = 1;
  y = {1, 2;
end M;
