model Rods "Points of mass 1 on rods of length 1 from the origin, straight or bent in the middle, index 3"
  parameter Integer n = 50 "rods";
  parameter Real g = 9.81 "gravity";
  parameter Real a = 0.8 "angle of the upper half from the vertical";
  parameter Real bend = 0 "what is added to it in the lower half";
  parameter Integer h = div(n, 2) "rods of the upper half";
  Real x[n](start = {min(i, h)*sin(a) + max(i - h, 0)*sin(a + bend) for i in 1:n});
  Real y[n](start = {-min(i, h)*cos(a) - max(i - h, 0)*cos(a + bend) for i in 1:n});
  Real vx[n](each start = 0);
  Real vy[n](each start = 0);
  Real lambda[n] "force in the rod per length";
equation
  for i in 1:n loop
    der(x[i]) = vx[i];
    der(y[i]) = vy[i];
  end for;
  for i in 2:n-1 loop
    der(vx[i]) = -lambda[i]*(x[i] - x[i-1]) + lambda[i+1]*(x[i+1] - x[i]);
    der(vy[i]) = -lambda[i]*(y[i] - y[i-1]) + lambda[i+1]*(y[i+1] - y[i]) - g;
  end for;
  der(vx[1]) = -lambda[1]*x[1] + lambda[2]*(x[2] - x[1]);
  der(vy[1]) = -lambda[1]*y[1] + lambda[2]*(y[2] - y[1]) - g;
  der(vx[n]) = -lambda[n]*(x[n] - x[n-1]);
  der(vy[n]) = -lambda[n]*(y[n] - y[n-1]) - g;
  x[1]^2 + y[1]^2 = 1 "first rod";
  for i in 2:n loop
    (x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1 "rod";
  end for;
  annotation(experiment(StartTime = 0, StopTime = 0.2, Tolerance = 1e-5));
end Rods;
