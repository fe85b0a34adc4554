model M
  Real x[3](start = {1, 2});
equation
  der(x) = zeros(3);
end M;
