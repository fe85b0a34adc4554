// A kink that is no event, and a relation to keep a row for: der(s) = 1 whatever x does.
model seam_floor
  Real x = time*noEvent(max(1, s)), k = floor(x);
  Real s(start = 0, fixed = true);
equation
  der(s) = 1;
  annotation(experiment(StartTime = 0.37, StopTime = 3));
end seam_floor;
