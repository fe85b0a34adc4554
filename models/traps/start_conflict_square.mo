model start_conflict_square "no v has v^2 = -1: h = -1 is fixed"
  Real h(start = -1, fixed = true), v;
equation
  der(h) = -v;
  v^2 = h;
end start_conflict_square;
