model M
  Reel x;
equation
  x = 1;
end M;
