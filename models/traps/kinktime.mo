model KinkTime "A kink in the right-hand side, without an event"
  Real x(start = 0, fixed = true);
equation
  der(x) = noEvent(abs(time - 0.3));
end KinkTime;
