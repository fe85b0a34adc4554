// Proposition 2.5.3 of Brenan, Campbell and Petzold with (4.3.33): y' = z, 0 = F(t, y, z) has one
// index more than F(t, y, y') = 0.
model Enlarged
  Real x(start = 1, fixed = true), y, u, v;
equation
  der(x) = u;
  der(y) = v;
  u - time * v + x - (1 + time) * y = 0;
  y = sin(time);
end Enlarged;
