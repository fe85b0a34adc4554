model OutputFast "an output that oscillates a million times faster than the state"
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -x;
  y = x*cos(1e6*time);
end OutputFast;
