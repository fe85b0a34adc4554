model GrowthSign "a controller with the wrong sign of its error: e-fold in 0.00932 s"
  parameter Real K = 50, Ti = 0.1, tau = 0.5, r = 1;
  Real y(start = 0, fixed = true), I(start = 0, fixed = true), e, u;
equation
  tau*der(y) = -y + u;
  u = K*(e + I/Ti);
  e = y - r;
  der(I) = e;
end GrowthSign;
