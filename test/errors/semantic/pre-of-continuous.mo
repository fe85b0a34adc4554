model M
  Real x;
  Real y = pre(x);
equation
  der(x) = 1;
end M;
