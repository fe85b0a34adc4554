// A mass that is burnt up at t = 2.
model VanishingSecond "The mass of a second order equation passes through zero"
  Real x(start = 0, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v;
  (2 - time)*der(v) = 1 - x;
  annotation(experiment(StopTime = 3));
end VanishingSecond;
