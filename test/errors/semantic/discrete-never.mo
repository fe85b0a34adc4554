model M
  Integer k;
  Real x;
equation
  der(x) = k;
end M;
