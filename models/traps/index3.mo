model Index3 "z is the second derivative of what is prescribed"
  Real x(start = 0), v(start = 1), z;
equation
  der(x) = v;
  der(v) = z - x;
  x = sin(2*time);
end Index3;
