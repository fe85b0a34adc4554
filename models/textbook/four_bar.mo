model FourBar "Four-bar linkage with a crank that turns steadily"
  parameter Real a = 0.2 "crank", b = 0.5 "coupler", c = 0.4 "rocker", d = 0.5 "frame";
  Real phi "crank", theta(start = 0.8) "coupler", psi(start = 1.5) "rocker", w;
equation
  phi = 2*time;
  a*cos(phi) + b*cos(theta) = d + c*cos(psi);
  a*sin(phi) + b*sin(theta) = c*sin(psi);
  w = der(psi);
  annotation(experiment(StopTime = 5));
end FourBar;
