model M
  Real x;
  parameter String s = "a";
equation
  x = 1 + s;
end M;
