model Index2 "z is the derivative of what is prescribed"
  Real x(start = 0), z;
equation
  der(x) = z;
  x = sin(time);
end Index2;
