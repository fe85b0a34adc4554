model Metronome "A clock: the pendulum gets a push whenever it passes the middle to the right"
  Real phi(start = 0.2, fixed = true), w(start = 0, fixed = true);
  Integer ticks(start = 0, fixed = true);
equation
  der(phi) = w;
  der(w) = -9.81/0.25*sin(phi) - 0.1*w;
  when phi > 0 then
    reinit(w, sqrt(pre(w)^2 + 0.05));
    ticks = pre(ticks) + 1;
  end when;
  annotation(experiment(StopTime = 8));
end Metronome;
