// The two derivatives stand in both equations; their determinant is cos(t) - 1/2, zero at pi/3.
model VanishingPair "A block of derivatives that loses rank"
  Real x(start = 0, fixed = true), y(start = 1, fixed = true);
equation
  der(x)*cos(time) + 0.5*der(y) = -x;
  der(x) + der(y) = y;
  annotation(experiment(StopTime = 2));
end VanishingPair;
