model SteadyStart "(7.5.37): y' = 0 is known at the start, not y"
  Real x(start = 1);
initial equation
  der(x) = 0;
equation
  der(x) = 10 - x - x^3;
end SteadyStart;
