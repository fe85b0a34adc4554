model Span "Rods of length 1 between two supports, with a mass at each joint, index 3"
  parameter Integer n = 50 "rods";
  parameter Real g = 9.81 "gravity";
  parameter Real span = 0.9*n "between the supports";
  parameter Real bend = 0 "sag of the first guess in its middle, in spans; 0: a straight line, where rods do not reach";
  Real x[n-1](start = {i*span/n for i in 1:n-1});
  Real y[n-1](start = {-4*bend*span*i*(n - i)/n^2 for i in 1:n-1});
  Real vx[n-1](each start = 0);
  Real vy[n-1](each start = 0);
  Real lambda[n] "force in the rod per length";
equation
  for i in 1:n-1 loop
    der(x[i]) = vx[i];
    der(y[i]) = vy[i];
  end for;
  for i in 2:n-2 loop
    der(vx[i]) = -lambda[i]*(x[i] - x[i-1]) + lambda[i+1]*(x[i+1] - x[i]);
    der(vy[i]) = -lambda[i]*(y[i] - y[i-1]) + lambda[i+1]*(y[i+1] - y[i]) - g;
  end for;
  der(vx[1]) = -lambda[1]*x[1] + lambda[2]*(x[2] - x[1]);
  der(vy[1]) = -lambda[1]*y[1] + lambda[2]*(y[2] - y[1]) - g;
  der(vx[n-1]) = -lambda[n-1]*(x[n-1] - x[n-2]) + lambda[n]*(span - x[n-1]);
  der(vy[n-1]) = -lambda[n-1]*(y[n-1] - y[n-2]) - lambda[n]*y[n-1] - g;
  x[1]^2 + y[1]^2 = 1 "first rod";
  for i in 2:n-1 loop
    (x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1 "rod";
  end for;
  (span - x[n-1])^2 + y[n-1]^2 = 1 "last rod";
  annotation(experiment(StartTime = 0, StopTime = 0.05, Tolerance = 1e-5));
end Span;
