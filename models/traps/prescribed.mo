model Prescribed "a mechanism that its drives leave no freedom, index 3"
  Real x, y, vx, vy, fx, fy;
equation
  der(x) = vx;
  der(y) = vy;
  2*der(vx) = fx;
  2*der(vy) = fy - 19.62;
  x = sin(7*time);
  y = cos(5*time);
  annotation(experiment(StopTime = 3));
end Prescribed;
