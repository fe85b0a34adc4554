model M
  Real x, y;
equation
  x = 1;
partition
  Clock c = Clock(0.1);
  subpartition (clock = c)
    equation
      y = 1;
end M;
