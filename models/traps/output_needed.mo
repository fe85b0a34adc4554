model OutputNeeded "no output: der(v) needs y, and log(x) ends the run by name"
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), y;
equation
  der(x) = -1;
  y = log(x);
  der(v) = y;
end OutputNeeded;
