model M
  replaceable package Medium = Water;
  replaceable Real r = 1;
  R q(redeclare Real s = 2);
  Real x;
equation
  x = 1;
end M;
