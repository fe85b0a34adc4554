model Huge "Sizes of 1e20"
  Real x(start = 1e20, fixed = true);
  Real y;
equation
  der(x) = -x;
  y = x/1e20;
end Huge;
