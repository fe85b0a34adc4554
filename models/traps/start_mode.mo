model start_mode "the mode of the guess q = 0 has no solution: q > 0 must be turned round; q = 1 - t"
  Real p(start = 1, fixed = true), q, r(start = 0, fixed = true);
equation
  der(p) = -q;
  p - r = if q > 0 then q^2 else -q^2;
  der(r) = q;
  annotation(experiment(StopTime = 0.5));
end start_mode;
