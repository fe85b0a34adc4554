// Exercise 2 of [HW96 VII.2]: only x has mass; y has none, and is held to x by the constraint, so that
// M is singular and injective on the kernel of G. x'' = -x.
model MasslessBead "A mass, and a point without mass at the same place"
  Real x(start = 1, fixed = true), u(start = 0, fixed = true);
  Real y(start = 1), lambda;
equation
  der(x) = u;
  x - y = 0 "held";
  annotation(
    experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7),
    __Daedal(
      coordinates = {x}, massless = {y}, kinetic = u^2/2, potential = y^2/2, multipliers = {lambda}));
end MasslessBead;
