function springForce "force of a spring between the origin and a point, on the point"
  input Real p[2](each unit = "m") "the point";
  input Real length(unit = "m") "of the relaxed spring";
  input Real c(unit = "N/m") "stiffness";
  output Real force[2](each unit = "N");
protected
  Real distance(unit = "m");
algorithm
  distance := sqrt(p*p);
  force := c*(length - distance)/distance*p;
end springForce;

model CarAxis1 "Car axis on a bumpy road, constraints at acceleration level: index 1"
  parameter Real eps(unit = "1") = 1e-2 "small: the springs are stiff against the mass";
  parameter Real M(unit = "kg") = 10 "mass before scaling";
  parameter Real c(unit = "N/m") = 1 "stiffness of the springs";
  parameter Real L(unit = "m") = 1 "length of axis and chassis";
  parameter Real L0(unit = "m") = 0.5 "length of the relaxed springs";
  parameter Real r(unit = "m") = 0.1 "height of the bumps";
  parameter Real w(unit = "rad/s") = 10 "frequency of the bumps";
  parameter Real g(unit = "m/s2") = 1 "gravity";
  final parameter Real m(unit = "kg") = M*eps^2/2 "mass at each end of the chassis";
  Real b[2](each unit = "m", start = {L, 0}) "right wheel; the left one is the origin";
  Real bv[2](each unit = "m/s", start = {0, r*w}) "its velocity";
  Real ba[2](each unit = "m/s2", start = {-r^2*w^2/L, 0}) "its acceleration";
  Real pl[2](each unit = "m", start = {0, L0}, each fixed = true) "left end of the chassis";
  Real pr[2](each unit = "m", start = {L, L0}, each fixed = true) "right end of the chassis";
  Real vl[2](each unit = "m/s", start = {-r*w*L0/L, 0}, each fixed = true);
  Real vr[2](each unit = "m/s", start = {-r*w*L0/L, 0}, each fixed = true);
  Real lambda[2](each unit = "N/m") "forces of the constraints";
equation
  b[2] = r*sin(w*time) "bumps";
  b[1] = sqrt(L^2 - b[2]^2) "the wheels keep their distance";
  bv[2] = r*w*cos(w*time);
  b*bv = 0;
  ba[2] = -r*w^2*sin(w*time);
  b*ba + bv*bv = 0;
  der(pl) = vl;
  der(pr) = vr;
  m*der(vl) = springForce(pl, L0, c) + lambda[1]*b + 2*lambda[2]*(pl - pr) - {0, m*g} "left end";
  m*der(vr) = springForce(pr - b, L0, c) - 2*lambda[2]*(pl - pr) - {0, m*g} "right end";
  ba*pl + 2*bv*vl + b*der(vl) = 0 "b*pl = 0: the left spring is perpendicular to the road";
  (pl - pr)*(der(vl) - der(vr)) + (vl - vr)*(vl - vr) = 0 "(pl - pr)^2 = L^2: the chassis is rigid";
  annotation(experiment(StartTime = 0, StopTime = 3, Tolerance = 1e-7));
end CarAxis1;
