model M
  Real x(strat = 1);
equation
  der(x) = 1;
end M;
