model Gear "Two wheels and an ideal gear: the torque between them is unknown, index 3"
  parameter Real J1 = 0.02, J2 = 0.5, ratio = 5;
  Real phi1(start = 0, fixed = true), phi2, w1(start = 0, fixed = true), w2, tau1, tau2;
equation
  der(phi1) = w1;
  der(phi2) = w2;
  phi1 = ratio*phi2;
  J1*der(w1) = 3*(1 - exp(-time)) - tau1;
  tau2 = ratio*tau1;
  J2*der(w2) = tau2 - 1.2*w2;
  annotation(experiment(StopTime = 5));
end Gear;
