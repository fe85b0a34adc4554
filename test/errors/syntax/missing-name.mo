model M
  Real ;
  Real x;
  parameter = 3;
equation
  x = 1;
end M;
