model Terminal
  Real x(start = 0);
  Boolean b;
equation
  der(x) = 1;
  b = x > 1;
  annotation(__Daedal(terminal = {x, b == true, y == 1, {x, x} == 2}));
end Terminal;
