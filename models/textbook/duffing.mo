model Duffing "A bistable beam that is shaken (Duffing)"
  Real x(start = 1), y(start = 0);
equation
  der(x) = y;
  der(y) = x - x^3 - 0.25*y + 0.25*cos(time);
  annotation(experiment(StopTime = 20));
end Duffing;
