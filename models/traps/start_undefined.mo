model start_undefined "1/x where x = 0 is fixed, and der(x) needs it"
  Real x(start = 0, fixed = true), y;
equation
  der(x) = y;
  y = 1/x;
end start_undefined;
