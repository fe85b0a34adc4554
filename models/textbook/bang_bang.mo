model BangBang "A satellite is turned by thrusters with a dead zone"
  Real phi(start = 1, fixed = true), w(start = 0, fixed = true), s, fuel(start = 0, fixed = true);
  Integer u(start = 0);
equation
  s = phi + 0.5*w;
  u = if s > 0.1 then -1 elseif s < -0.1 then 1 else 0;
  der(phi) = w;
  der(w) = 0.3*u;
  der(fuel) = abs(u);
  annotation(experiment(StopTime = 5));
end BangBang;
