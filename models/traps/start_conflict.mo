model start_conflict "x = 1 and y = 2 are fixed, but x + y = 4"
  Real x(start = 1, fixed = true), y(start = 2, fixed = true);
equation
  der(x) = -x;
  x + y = 4 + 0*time;
end start_conflict;
