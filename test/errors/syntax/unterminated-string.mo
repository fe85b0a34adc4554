model M
  parameter String s = "abc;
  Real x;
equation
  x = 1;
end M;
