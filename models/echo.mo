model Echo "a line with an echo, and a state that is fed back after a while"
  parameter Real tau = 1 "time to the end of the line and back";
  parameter Real r = 0.5 "part that comes back";
  Real u "sent: a step";
  Real s "on the line";
  Real y(start = 1, fixed = true) "follows itself";
  Real z(start = 0, fixed = true) "what has arrived";
equation
  u = if time < 0.25 then 0 else 1;
  s = u + r*delay(s, tau);
  der(y) = -delay(y, tau);
  der(z) = s;
  annotation(experiment(StopTime = 3));
end Echo;
