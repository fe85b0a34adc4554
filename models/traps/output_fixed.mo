model OutputFixed "no output: its fixed start value decides x(0) = 3"
  Real x(start = 1), z(start = 9, fixed = true);
equation
  der(x) = -x;
  z = x^2;
end OutputFixed;
