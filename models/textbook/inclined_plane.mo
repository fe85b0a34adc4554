model InclinedPlane "A block is pushed up a slope, stops, and stays or slides back"
  parameter Real alpha = 0.4 "rad", mu = 0.25, g = 9.81;
  Real s(start = 0, fixed = true), v(start = 4, fixed = true);
  Boolean up;
equation
  der(s) = v;
  up = v > 0;
  der(v) = -g*sin(alpha) - (if up then mu else -mu)*g*cos(alpha);
  annotation(experiment(StopTime = 2));
end InclinedPlane;
