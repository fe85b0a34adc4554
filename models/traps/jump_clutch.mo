model JumpClutch "an ideal clutch closes while speeds differ"
  Real w1(start=10,fixed=true), w2(start = 0, fixed = true), tau;
equation
  der(w1) = -tau;
  2*der(w2) = tau;
  0 = if time > 1 then w1 - w2 else tau;
  annotation(experiment(StopTime=2));
end JumpClutch;
