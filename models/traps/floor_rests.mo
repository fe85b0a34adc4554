// z comes to rest at 0, which is solved for: its floor stays 0 whatever happens elsewhere.
model floor_rests
  Real z, u, w, v;
  Boolean other;
equation
  other = mod(time, 0.75) >= time;
  mod(min(1.5, time^3), -1.5) = z;
  u = mod(z, 2.0);
  v = floor(z);
  w = z*z*z*cos(z);
  annotation(experiment(StartTime = 0.37, StopTime = 3.3823));
end floor_rests;
