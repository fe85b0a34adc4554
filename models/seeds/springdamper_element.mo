// Example 1.2.2 of [Wun05] with m2 = 0: r is no coordinate but a dynamical force element, (1.16).
model SpringDamperElement "Mass on a spring and a damper without mass between them"
  parameter Real m1(unit = "kg") = 1;
  parameter Real k(unit = "N/m") = 4, d(unit = "N.s/m") = 0.5, g(unit = "m/s2") = 9.81;
  Real x(unit = "m", start = 0, fixed = true) "mass, downwards";
  Real vx(unit = "m/s", start = 0, fixed = true);
  Real r(unit = "m", start = 0, fixed = true) "between spring and damper";
equation
  der(x) = vx;
  der(r) = k/d*(x - r);
  annotation(
    experiment(StartTime = 0, StopTime = 2, Tolerance = 1e-7),
    __Daedal(coordinates = {x}, kinetic = m1/2*vx^2, potential = k/2*(x - r)^2 - m1*g*x));
end SpringDamperElement;
