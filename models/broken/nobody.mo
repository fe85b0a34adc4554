// der(s) would follow from q, q from der(s): nothing says what either is.
model Nobody "A derivative that nobody determines"
  Real x(start = 1, fixed = true), s(start = 0, fixed = true), q;
equation
  der(x) = -x;
  q = 2*der(s) + x; // culprit
end Nobody;
