model FourBar "Two points of mass 1 between (0,0) and (3,0) on rods of length 1, 2.5 and 2, index 3"
  Real x1(start = 0, fixed = true);
  Real y1(start = 1);
  Real x2(start = 2.337);
  Real y2(start = 1.887);
  Real vx1(start = 0, fixed = true);
  Real vy1(start = 0);
  Real vx2(start = 0);
  Real vy2(start = 0);
  Real lambda[3] "forces in the rods per length";
equation
  der(x1) = vx1;
  der(y1) = vy1;
  der(x2) = vx2;
  der(y2) = vy2;
  der(vx1) = -lambda[1]*x1 + lambda[2]*(x2 - x1);
  der(vy1) = -lambda[1]*y1 + lambda[2]*(y2 - y1) - 1;
  der(vx2) = -lambda[2]*(x2 - x1) - lambda[3]*(x2 - 3);
  der(vy2) = -lambda[2]*(y2 - y1) - lambda[3]*y2 - 1;
  x1^2 + y1^2 = 1 "first rod";
  (x2 - x1)^2 + (y2 - y1)^2 = 6.25 "second rod";
  (x2 - 3)^2 + y2^2 = 4 "third rod";
  annotation(experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-7));
end FourBar;
