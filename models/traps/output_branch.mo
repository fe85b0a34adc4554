model OutputBranch "the root of a branch that ends at an event where its argument is zero"
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -1 - time;
  y = if x > 0 then sqrt(x) else 7;
end OutputBranch;
