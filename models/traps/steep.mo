model Steep "A slope that turns within a thousandth"
  Real x(start = 0, fixed = true);
equation
  der(x) = tanh(1000*(time - 0.4));
end Steep;
