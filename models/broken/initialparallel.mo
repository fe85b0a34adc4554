// Two capacitors in parallel have one voltage.
model InitialParallel "Parallel capacitors charged differently"
  parameter Real C1 = 1, C2 = 2, G = 1;
  Real u1(start = 1, fixed = true); // fixed: u1
  Real u2(start = 2, fixed = true); // fixed: u2
  Real i1, i2;
equation
  C1*der(u1) = i1;
  C2*der(u2) = i2;
  u1 = u2; // culprit
  i1 + i2 + G*u1 = 0;
end InitialParallel;
