// L. Wunderlich, thesis, TU Berlin, 2005, (2.55); after C. Arevalo and P. Loetstedt. Solution
// y = (sin t^2, cos t^2), lambda = -4 t^2.
model CircleTrack "Particle on a circular track under a tangential force, index 3"
  Real y1(start = sin(1.0), fixed = true), y2(start = cos(1.0));
  Real z1(start = 2*cos(1.0), fixed = true), z2(start = -2*sin(1.0));
  Real lambda(start = -4);
equation
  der(y1) = z1;
  der(y2) = z2;
  der(z1) = 2*y2 + y1*lambda;
  der(z2) = -2*y1 + y2*lambda;
  y1^2 + y2^2 = 1;
  annotation(experiment(StartTime = 1, StopTime = 2, Tolerance = 1e-7));
end CircleTrack;
