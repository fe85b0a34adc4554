model Fuse "A fuse melts by the heat of a short circuit"
  parameter Real melt = 50 "A2 s";
  Real i(start = 20, fixed = true), heat(start = 0, fixed = true), R;
  Boolean blown(start = false, fixed = true), short;
equation
  short = time > 0.02;
  R = (if short then 0.1 else 0.5) + (if blown then 1000 else 0);
  1e-3*der(i) = 10 - R*i;
  der(heat) = if blown then 0 else max(0, i^2 - 900);
  when heat > melt then
    blown = true;
  end when;
  annotation(experiment(StopTime = 0.05));
end Fuse;
