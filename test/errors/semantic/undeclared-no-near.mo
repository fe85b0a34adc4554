model M
  Real x;
equation
  der(x) = -friction;
end M;
