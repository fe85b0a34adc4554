// The road is a curve in parametric form; s is the place of the contact, found by an equation of its
// own. The distance from the road is a constraint on positions, rolling one on velocities: the full
// mechanical form (1.18), (1.14) of M. Wunderlich's thesis.
model Wheel "Wheel that rolls on a wavy road, contact coordinate and rolling, index 3"
  parameter Real m(unit = "kg") = 2, J(unit = "kg.m2") = 0.0625, r(unit = "m") = 0.25;
  parameter Real g(unit = "m/s2") = 9.81;
  parameter Real a(unit = "m") = 0.2 "height of the waves", b(unit = "m") = 0.1, k = 2;
  Real x(unit = "m", start = 0.3), y(unit = "m", start = 0.4) "centre";
  Real phi(unit = "rad", start = 0, fixed = true);
  Real vx(unit = "m/s"), vy(unit = "m/s"), omega(unit = "rad/s", start = 0, fixed = true);
  Real s(start = 0.3, fixed = true) "parameter of the road at the contact";
  Real N(unit = "N", start = 20) "normal force", T(unit = "N") "force along the road";
  Real X(unit = "m"), Y(unit = "m") "contact", Xs(start = 1), Ys, l(start = 1) "tangent, and its length";
equation
  X = s - b*sin(k*s);
  Y = a*cos(k*s);
  Xs = 1 - b*k*cos(k*s);
  Ys = -a*k*sin(k*s);
  l = sqrt(Xs^2 + Ys^2);
  der(x) = vx;
  der(y) = vy;
  der(phi) = omega;
  m*der(vx) = -N*Ys/l + T*Xs/l;
  m*der(vy) = N*Xs/l + T*Ys/l - m*g;
  J*der(omega) = r*T;
  (x - X)*Xs + (y - Y)*Ys = 0 "contact below the centre";
  ((y - Y)*Xs - (x - X)*Ys)/l = r "wheel on the road";
  (vx*Xs + vy*Ys)/l + r*omega = 0 "rolling";
  annotation(experiment(StartTime = 0, StopTime = 5, Tolerance = 1e-7));
end Wheel;
