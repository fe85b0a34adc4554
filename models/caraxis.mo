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

model CarAxis "Car axis on a bumpy road, index 3"
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
  Real pl[2](each unit = "m", start = {0, L0}, fixed = {false, true}) "left end of the chassis";
  Real pr[2](each unit = "m", start = {L, L0}, fixed = {false, true}) "right end of the chassis";
  Real vl[2](each unit = "m/s", start = {-r*w*L0/L, 0}, fixed = {false, true});
  Real vr[2](each unit = "m/s", start = {-r*w*L0/L, 0}, fixed = {false, true});
  Real lambda[2](each unit = "N/m") "forces of the constraints";
equation
  b[2] = r*sin(w*time) "bumps";
  b[1] = sqrt(L^2 - b[2]^2) "the wheels keep their distance";
  der(pl) = vl;
  der(pr) = vr;
  m*der(vl) = springForce(pl, L0, c) + lambda[1]*b + 2*lambda[2]*(pl - pr) - {0, m*g} "left end";
  m*der(vr) = springForce(pr - b, L0, c) - 2*lambda[2]*(pl - pr) - {0, m*g} "right end";
  b*pl = 0 "the left spring is perpendicular to the road";
  (pl - pr)*(pl - pr) = L^2 "the chassis is rigid";
  annotation(experiment(StartTime = 0, StopTime = 3, Tolerance = 1e-7));
end CarAxis;
