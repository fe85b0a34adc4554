// The charges of the two capacitors add up to the source, which is zero at the start.
model InitialCharges "Fixed charges in a loop with a voltage source"
  Real q1(start = 1, fixed = true); // fixed: q1
  Real q2(start = 1, fixed = true); // fixed: q2
  Real e1, e2, iV;
equation
  der(q1) + e1 + iV = 0;
  der(q2) - der(q1) + e2 = 0;
  e1 - sin(100*time) = 0; // culprit
  q1 - e1 + e2 = 0; // culprit
  q2 - 1.0*e2 = 0; // culprit
end InitialCharges;
