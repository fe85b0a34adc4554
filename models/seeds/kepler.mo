// (2.15) of [HW96 VII.2] with eccentricity 0.6; its energy H and angular momentum L are invariants.
model Kepler "Perturbed Kepler problem"
  parameter Real e = 0.6 "eccentricity", mu = 0.005 "perturbation";
  Real q1(start = 1 - e, fixed = true), q2(start = 0, fixed = true);
  Real p1(start = 0, fixed = true), p2(start = sqrt((1 + e)/(1 - e)), fixed = true);
  Real r = sqrt(q1^2 + q2^2) "distance";
  Real H = (p1^2 + p2^2)/2 - 1/r - mu/r^3 "energy";
  Real L = q1*p2 - q2*p1 "angular momentum";
equation
  der(q1) = p1;
  der(q2) = p2;
  annotation(
    experiment(StartTime = 0, StopTime = 20, Tolerance = 1e-7),
    __Daedal(coordinates = {q1, q2}, kinetic = (p1^2 + p2^2)/2, potential = -1/r - mu/r^3));
end Kepler;
