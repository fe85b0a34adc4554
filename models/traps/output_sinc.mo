model OutputSinc "0/0 at the start: nan in the first row, with a note"
  Real x(start = 0, fixed = true), y;
equation
  der(x) = 10;
  y = sin(x)/x;
end OutputSinc;
