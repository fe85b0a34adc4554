model FitzHughNagumo "A nerve fires again and again (FitzHugh and Nagumo)"
  parameter Real I = 0.5, a = 0.7, b = 0.8, tau = 12.5;
  Real v(start = -1), w(start = -0.5);
equation
  der(v) = v - v^3/3 - w + I;
  tau*der(w) = v + a - b*w;
  annotation(experiment(StopTime = 60));
end FitzHughNagumo;
