model RLCParallel "Parallel RLC circuit at an alternating current"
  constant Real pi = 3.141592653589793;
  parameter Real R = 1e3 "Ohm", L = 0.1 "H", C = 1e-6 "F";
  parameter Real f = 400 "Hz";
  Real u(start = 0, fixed = true) "V, across all three";
  Real iR, iL(start = 0, fixed = true), iC;
  Real p "W, power in the resistor";
equation
  0.01*sin(2*pi*f*time) = iR + iL + iC;
  u = R*iR;
  L*der(iL) = u;
  iC = C*der(u);
  p = u*iR;
  annotation(experiment(StopTime = 0.01));
end RLCParallel;
