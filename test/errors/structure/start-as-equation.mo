model StartAsEquation
  Real x;
equation
  x = 1;
  der(x) = -x;
end StartAsEquation;
