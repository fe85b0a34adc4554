// (2.5.16) of Brenan, Campbell and Petzold: (3.1.4) with x3 = z', which lowers the index to 2.
model Substitution
  Real x1(start = 0), x2(start = 2), z(start = 0, fixed = true);
equation
  der(x1) = x2;
  der(x2) = der(z);
  0 = x1 - sin(2 * time);
end Substitution;
