model Tiny "Sizes of 1e-20, declared"
  Real x(start = 1e-20, fixed = true, nominal = 1e-20);
  Real y(nominal = 1e-20);
equation
  der(x) = -x;
  y = 2*x;
end Tiny;
