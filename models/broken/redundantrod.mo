// A parallelogram of two equal cranks and a coupler; a third rod from the frame to the middle of
// the coupler moves with it. Its constraint follows from the others: the forces are not unique.
model RedundantRod "Four-bar linkage with a redundant closing of the loop"
  parameter Real g = 9.81;
  Real x1(start = 0.6), y1(start = 0.8), x2(start = 2.6), y2(start = 0.8);
  Real u1, w1, u2, w2;
  Real f1, f2, f3, f4; // named: f1 f2 f4
equation
  der(x1) = u1;
  der(y1) = w1;
  der(x2) = u2;
  der(y2) = w2;
  der(u1) = -f1*x1 - f3*(x1 - x2) - f4*((x1 + x2)/2 - 1);
  der(w1) = -f1*y1 - f3*(y1 - y2) - f4*(y1 + y2)/2 - g;
  der(u2) = -f2*(x2 - 2) - f3*(x2 - x1) - f4*((x1 + x2)/2 - 1);
  der(w2) = -f2*y2 - f3*(y2 - y1) - f4*(y1 + y2)/2 - g;
  x1^2 + y1^2 = 1 "left crank"; // culprit
  (x2 - 2)^2 + y2^2 = 1 "right crank"; // culprit
  (x2 - x1)^2 + (y2 - y1)^2 = 4 "coupler";
  ((x1 + x2)/2 - 1)^2 + ((y1 + y2)/2)^2 = 1 "third rod"; // culprit
end RedundantRod;
