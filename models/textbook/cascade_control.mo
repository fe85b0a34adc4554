model CascadeControl "Speed and current of a motor under two controllers, limited voltage"
  parameter Real R = 0.5, L = 5e-3, k = 0.3, J = 0.02;
  Real i(start = 0), w(start = 0), xi(start = 0), iref, u, load;
equation
  load = if time > 0.6 then 3 else 0;
  iref = min(40, max(-40, 2*(100 - w)));
  der(xi) = 100*(iref - i);
  u = min(60, max(-60, 1.5*(iref - i) + xi));
  L*der(i) = u - R*i - k*w;
  J*der(w) = k*i - load;
  annotation(experiment(StopTime = 1));
end CascadeControl;
