model M
  Real velocity;
equation
  der(velocity) = -velocty;
end M;
