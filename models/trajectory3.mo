// K. E. Brenan, S. L. Campbell, L. R. Petzold, Numerical Solution of Initial-Value Problems in
// Differential-Algebraic Equations, 1996, (6.3.4) with (6.3.7). The numerator of the longitude's
// rate is sin(A). The book leaves out the constants; these reproduce its Table 6.3.3, in which the
// flight path angle is printed ten times too large. Two bank angles fit each state; start chooses.
model Trajectory3 "Reentry vehicle on a prescribed profile of the drag, index 3"
  constant Real pi = 2*asin(1.0);
  constant Real deg = pi/180;
  parameter Real radius(unit = "ft") = 20902900 "of the earth";
  parameter Real mu(unit = "ft3/s2") = 0.1407653916e17 "gravitational constant";
  parameter Real Omega(unit = "rad/s") = 0.72921159e-4 "rotation of the earth";
  parameter Real m(unit = "slug") = 5964.496499824 "mass";
  parameter Real S(unit = "ft2") = 2690 "reference area";
  parameter Real V0(unit = "ft/s") = 24317.0798 "speed at the start";
  parameter Real C0 = 3.974960446019 "profile of drag over mass against speed";
  parameter Real C1 = -0.1448947694635e-1;
  parameter Real C2 = -0.2156171551995e-4;
  parameter Real C3 = -0.1089609507291e-7;
  Real H(unit = "ft", start = 264039.328, nominal = 1e5) "altitude";
  Real xi(unit = "rad", start = 3.101765061, fixed = true) "longitude";
  Real lambda(unit = "rad", start = 0.5592347076, fixed = true) "latitude";
  Real V(unit = "ft/s", start = V0, fixed = true, nominal = 1e4) "speed";
  Real gamma(unit = "rad", start = -0.01308973356) "flight path angle";
  Real A(unit = "rad", start = 1.095863207, fixed = true) "azimuth";
  Real beta(unit = "rad", start = 41.1*deg) "bank angle";
  Real r(unit = "ft", start = 21166939, nominal = 2e7) "distance from the centre of the earth";
  Real g(unit = "ft/s2", start = 31.4, nominal = 32) "gravity";
  Real L(unit = "lbf", start = 25000, nominal = 1e4) "lift";
  Real D(unit = "lbf", start = 23700, nominal = 1e4) "drag";
equation
  r = H + radius;
  g = mu/r^2;
  L = 0.1042661538e-2*exp(-H/23800)*S*V^2;
  D = 0.9804676923e-3*exp(-H/23800)*S*V^2;
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
  D/m = C0 + C1*(V - V0) + C2*(V - V0)^2 + C3*(V - V0)^3 "profile";
  annotation(experiment(StartTime = 332.868734542, StopTime = 419.868734542, Tolerance = 1e-7));
end Trajectory3;
