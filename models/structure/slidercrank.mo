// Crank, rod and slider with angles and the slider's place as coordinates, two constraints.
model SliderCrank "Slider crank, index 3"
  parameter Real J = 0.5 "inertia of the crank", m = 1 "mass of the slider", Jr = 0.2 "of the rod";
  parameter Real a = 1, b = 2.5 "crank and rod";
  Real phi(start = 0.5, fixed = true), psi(start = -0.2), s(start = 3.3);
  Real wphi(start = 1, fixed = true), wpsi, vs;
  Real f, h "forces in the joint of rod and slider";
equation
  der(phi) = wphi;
  der(psi) = wpsi;
  der(s) = vs;
  J*der(wphi) = a*sin(phi)*f - a*cos(phi)*h;
  Jr*der(wpsi) = b*sin(psi)*f - b*cos(psi)*h;
  m*der(vs) = f;
  a*cos(phi) + b*cos(psi) = s;
  a*sin(phi) + b*sin(psi) = 0;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end SliderCrank;
