model M
  Real x;
  Real y;
equation
  x = sin(1, 2);
  y = atan2(1);
end M;
