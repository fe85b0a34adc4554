model Hoop "A bead on a hoop that turns ever faster"
  parameter Real R = 0.3, g = 9.81, d = 0.3;
  Real theta(start = 0.1, fixed = true), w(start = 0, fixed = true), Omega;
equation
  Omega = 2*time;
  der(theta) = w;
  der(w) = Omega^2*sin(theta)*cos(theta) - g/R*sin(theta) - d*w;
  annotation(experiment(StopTime = 8));
end Hoop;
