model GrowthEvent "An event at a size of 1e18"
  Real x(start = 1, fixed = true);
  discrete Integer k(start = 0, fixed = true);
equation
  der(x) = 46.0*x;
  when time > 0.9 then
    k = pre(k) + 1;
  end when;
end GrowthEvent;
