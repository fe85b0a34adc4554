model M
  parameter constant Real p = 1;
  Real x;
equation
  x = 1;
end M;
