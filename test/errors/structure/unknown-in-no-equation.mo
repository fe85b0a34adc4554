model M
  Real x;
  Real y;
equation
  der(x) = 1;
  x = time;
end M;
