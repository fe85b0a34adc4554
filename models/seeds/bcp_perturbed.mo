// (3.3.1) of Brenan, Campbell and Petzold with the reduced problem of bcp_index1.mo: a stiff equation
// that becomes its constraint for epsilon = 0.
model Perturbed
  parameter Real epsilon = 1e-4;
  Real x(start = 1, fixed = true), y(start = 1, fixed = true);
equation
  der(x) = -x * y;
  epsilon * der(y) = x^3 + x - y^3 - y;
  annotation(experiment(StopTime = 1, Tolerance = 1e-12));
end Perturbed;
