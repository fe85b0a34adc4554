model M
  Real x;
equation
  x = sine(time);
end M;
