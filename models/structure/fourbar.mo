// Crank, coupler and rocker as rods without mass, point masses in the two moving joints. Three
// constraints for four coordinates: one angle and its velocity are free.
model FourBar "Four-bar linkage, index 3"
  parameter Real m1 = 1, m2 = 1 "masses in the joints", g = 9.81;
  parameter Real a = 1 "crank", b = 2.5 "coupler", c = 2 "rocker", d = 3 "frame";
  Real x1(start = 0, fixed = true), y1(start = 1) "joint of crank and coupler";
  Real x2(start = 2.4), y2(start = 1.9) "joint of coupler and rocker";
  Real u1(start = 2, fixed = true), w1, u2, w2 "velocities";
  Real f1, f2, f3 "forces in the rods, per length";
equation
  der(x1) = u1;
  der(y1) = w1;
  der(x2) = u2;
  der(y2) = w2;
  m1*der(u1) = -f1*x1 - f2*(x1 - x2);
  m1*der(w1) = -f1*y1 - f2*(y1 - y2) - m1*g;
  m2*der(u2) = -f2*(x2 - x1) - f3*(x2 - d);
  m2*der(w2) = -f2*(y2 - y1) - f3*y2 - m2*g;
  x1^2 + y1^2 = a^2 "crank";
  (x2 - x1)^2 + (y2 - y1)^2 = b^2 "coupler";
  (x2 - d)^2 + y2^2 = c^2 "rocker";
  annotation(experiment(StartTime = 0, StopTime = 0.25, Tolerance = 1e-7));
end FourBar;
