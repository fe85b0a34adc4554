// Example 1.2.2 of [Wun05]: the damper is a force without potential, (1.6) to (1.9), here by
// Rayleigh's function of dissipation. With m2 = 0 the second equation is of first order, (1.16).
model SpringDamper "Spring and damper in series under a mass, from their energies"
  parameter Real m1(unit = "kg") = 1, m2(unit = "kg") = 0.1;
  parameter Real k(unit = "N/m") = 4, d(unit = "N.s/m") = 0.5, g(unit = "m/s2") = 9.81;
  Real x(unit = "m", start = 0, fixed = true) "mass, downwards";
  Real r(unit = "m", start = 0, fixed = true) "between spring and damper";
  Real vx(unit = "m/s", start = 0, fixed = true), vr(unit = "m/s", start = 0, fixed = true);
equation
  der(x) = vx;
  der(r) = vr;
  annotation(
    experiment(StartTime = 0, StopTime = 2, Tolerance = 1e-7),
    __Daedal(
      coordinates = {x, r},
      kinetic = m1/2*vx^2 + m2/2*vr^2,
      potential = k/2*(x - r)^2 - g*(m1*x + m2*r),
      dissipation = d/2*vr^2));
end SpringDamper;
