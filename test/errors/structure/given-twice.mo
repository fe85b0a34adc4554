model GivenTwice "the pressure is given twice, by other unknowns each time"
  Real p, T(start = 300), m(start = 1), q;
equation
  p = m*287*T;
  der(m) = -q;
  q = 1e-5*(p - 1);
  der(T) = -q*T;
  p = 3*q + time;
end GivenTwice;
