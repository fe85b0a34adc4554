model OutputRoot "an output with an infinite slope at the start"
  Real x(start = 0, fixed = true), y;
equation
  der(x) = 1;
  y = sqrt(x);
end OutputRoot;
