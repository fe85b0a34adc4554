// Example 2.4.2 of Brenan, Campbell and Petzold: the pencil is regular at all times, and yet
// x = phi(t) (t, 1) is a solution for every phi.
model Unsolvable
  Real x1(start = 0), x2(start = 1);
equation
  -time * der(x1) + time^2 * der(x2) + x1 = 0;
  -der(x1) + time * der(x2) + x2 = 0;
end Unsolvable;
