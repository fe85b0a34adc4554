model M
  Real F(unit = "N");
  Real x(unit = "m", start = 1);
  Real v(unit = "m/s");
  parameter Real m(unit = "kg") = 2;
  parameter Real k(unit = "N/m") = 3;
  parameter Real d = 0.1;
  Real E(unit = "J");
  Real T(unit = "degC");
  Real w(unit = "rad/s");
equation
  der(x) = v;
  m*der(v) = F;
  F = -k*x - d*v - m*9.81 + 1;
  E = 0.5*m*v^2 + k*x^2/2;
  T = 293.15 - 273.15;
  w = sqrt(k/m);
  missing = 1;
end M;
