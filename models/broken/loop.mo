// An algebraic loop without a solution: going round adds 1.
model Loop "Algebraic loop that does not close"
  Real s(start = 0, fixed = true), x, y;
equation
  der(s) = x;
  x = y + s + 1; // culprit
  y = x - s; // culprit
end Loop;
