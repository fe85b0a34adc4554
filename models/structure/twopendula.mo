// J. D. Pryce, A simple structural analysis method for DAEs, BIT 41 (2001): the tension of one
// pendulum controls the length of another one. Index 5, four degrees of freedom.
model TwoPendula "Two pendula, the second one of a length driven by the first, index 5"
  parameter Real g = 1, L = 1, c = 0.1;
  Real x(start = 1), y(start = 0, fixed = true), lambda;
  Real u(start = 1), v(start = 0, fixed = true), kappa;
initial equation
  der(y) = 0;
  der(v) = 0;
equation
  der(der(x)) + x*lambda = 0;
  der(der(y)) + y*lambda + g = 0;
  x^2 + y^2 = L^2 "first rod";
  der(der(u)) + u*kappa = 0;
  der(der(v)) + v*kappa + g = 0;
  u^2 + v^2 = (L + c*lambda)^2 "second rod";
  annotation(experiment(StartTime = 0, StopTime = 5, Tolerance = 1e-7));
end TwoPendula;
