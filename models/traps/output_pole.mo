model OutputPole "an output with a pole on the way"
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -x;
  y = 1/(x - 0.5);
end OutputPole;
