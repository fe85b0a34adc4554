model SliderCrank "Slider crank that starts to move by a gas spring"
  parameter Real r = 0.05, l = 0.15 "m", m = 0.8 "kg, piston", J = 0.01 "kg m2, crank and flywheel";
  Real phi(start = 0.5, fixed = true), w(start = 10, fixed = true);
  Real psi(start = 0.16) "angle of the rod", x(start = 0.2) "piston", v;
  Real F "along the rod";
equation
  der(phi) = w;
  der(x) = v;
  r*sin(phi) = l*sin(psi);
  x = r*cos(phi) + l*cos(psi);
  m*der(v) = 500*(x - 0.2) + F*cos(psi);
  J*der(w) = F*r*sin(phi + psi) - 0.02*w;
  annotation(experiment(StopTime = 0.5));
end SliderCrank;
