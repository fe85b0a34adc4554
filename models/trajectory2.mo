// K. E. Brenan, S. L. Campbell, L. R. Petzold, Numerical Solution of Initial-Value Problems in
// Differential-Algebraic Equations, 1996, (6.3.4) with (6.3.5). The numerator of the longitude's
// rate is sin(A). The book leaves out the constants; these reproduce its values at t = 300.
model Trajectory2 "Reentry vehicle on a prescribed azimuth and flight path angle, index 2"
  constant Real pi = 2*asin(1.0);
  constant Real deg = pi/180;
  parameter Real radius(unit = "ft") = 20902900 "of the earth";
  parameter Real mu(unit = "ft3/s2") = 0.14076539e17 "gravitational constant";
  parameter Real Omega(unit = "rad/s") = 0.72921159e-4 "rotation of the earth";
  parameter Real m(unit = "slug") = 2.890532728 "mass";
  parameter Real S(unit = "ft2") = 1 "reference area";
  Real H(unit = "ft", start = 100000, fixed = true, nominal = 1e5) "altitude";
  Real xi(unit = "rad", start = 0, fixed = true) "longitude";
  Real lambda(unit = "rad", start = 0, fixed = true) "latitude";
  Real V(unit = "ft/s", start = 12000, fixed = true, nominal = 1e4) "speed";
  Real gamma(unit = "rad", start = -deg) "flight path angle";
  Real A(unit = "rad", start = 45*deg) "azimuth";
  Real alpha(unit = "rad", start = 2.6728700742*deg) "angle of attack";
  Real beta(unit = "rad", start = -0.0522095862*deg) "bank angle";
  Real r(unit = "ft", start = 21002900, nominal = 2e7) "distance from the centre of the earth";
  Real g(unit = "ft/s2", start = 32, nominal = 32) "gravity";
  Real rho(unit = "slug/ft3", start = 3.6e-5, nominal = 1e-4) "density of the air";
  Real CL(unit = "1", start = 0.027) "lift coefficient";
  Real CD(unit = "1", start = 0.04) "drag coefficient";
  Real L(unit = "lbf", start = 70, nominal = 100) "lift";
  Real D(unit = "lbf", start = 100, nominal = 100) "drag";
equation
  r = H + radius;
  g = mu/r^2;
  rho = 0.002378*exp(-H/23800);
  CL = 0.01*alpha/deg;
  CD = 0.04 + 0.1*CL^2;
  L = 0.5*rho*CL*S*V^2;
  D = 0.5*rho*CD*S*V^2;
  der(H) = V*sin(gamma);
  der(xi) = V*cos(gamma)*sin(A)/(r*cos(lambda));
  der(lambda) = V/r*cos(gamma)*cos(A);
  der(V) = -D/m - g*sin(gamma)
    - Omega^2*r*cos(lambda)*(sin(lambda)*cos(A)*cos(gamma) - cos(lambda)*sin(gamma));
  der(gamma) = L*cos(beta)/(m*V) + cos(gamma)/V*(V^2/r - g) + 2*Omega*cos(lambda)*sin(A)
    + Omega^2*r*cos(lambda)/V*(sin(lambda)*cos(A)*sin(gamma) + cos(lambda)*cos(gamma));
  der(A) = L*sin(beta)/(m*V*cos(gamma)) + V/r*cos(gamma)*sin(A)*tan(lambda)
    - 2*Omega*(cos(lambda)*cos(A)*tan(gamma) - sin(lambda))
    + Omega^2*r*cos(lambda)*sin(lambda)*sin(A)/(V*cos(gamma));
  gamma = -deg*(1 + 9*(time/300)^2) "prescribed";
  A = deg*(45 + 90*(time/300)^2) "prescribed";
  annotation(experiment(StartTime = 0, StopTime = 300, Tolerance = 1e-7));
end Trajectory2;
