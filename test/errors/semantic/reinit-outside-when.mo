model M
  Real x;
equation
  der(x) = 1;
  reinit(x, 0);
end M;
