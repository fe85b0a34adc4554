model RollingDisc "A disc rolls down a slope without slipping, index 2"
  parameter Real m = 3, r = 0.2, J = 0.06, alpha = 0.2, g = 9.81;
  Real s(start = 0, fixed = true), v(start = 0, fixed = true), phi(start = 0, fixed = true), w;
  Real F "friction at the ground";
equation
  der(s) = v;
  der(phi) = w;
  m*der(v) = m*g*sin(alpha) - F - 0.5*v;
  J*der(w) = F*r;
  v = r*w "rolls";
  annotation(experiment(StopTime = 4));
end RollingDisc;
