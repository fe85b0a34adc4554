model Pendulums "Pendulums beside each other, coupled by springs and dampers, index 3, stiff"
  parameter Integer n = 5 "pendulums";
  parameter Real k = 1e4 "stiffness";
  parameter Real d = 1e3 "damping";
  parameter Real g = 9.81 "gravity";
  parameter Real turn = 8*atan(1.0) "360 degrees";
  Real x[n](start = {sin(0.5 + 0.3*sin(turn*i/n)) for i in 1:n}) "from the own pivot";
  Real y[n](start = {-cos(0.5 + 0.3*sin(turn*i/n)) for i in 1:n});
  Real vx[n](each start = 0);
  Real vy[n](each start = 0);
  Real lambda[n] "force in the rod per length";
equation
  for i in 1:n loop
    der(x[i]) = vx[i];
    der(y[i]) = vy[i];
    x[i]^2 + y[i]^2 = 1 "rod";
  end for;
  for i in 2:n-1 loop
    der(vx[i]) = k*(x[i+1] - 2*x[i] + x[i-1]) + d*(vx[i+1] - 2*vx[i] + vx[i-1]) - lambda[i]*x[i];
    der(vy[i]) = k*(y[i+1] - 2*y[i] + y[i-1]) + d*(vy[i+1] - 2*vy[i] + vy[i-1]) - lambda[i]*y[i] - g;
  end for;
  der(vx[1]) = k*(x[2] - x[1]) + d*(vx[2] - vx[1]) - lambda[1]*x[1];
  der(vy[1]) = k*(y[2] - y[1]) + d*(vy[2] - vy[1]) - lambda[1]*y[1] - g;
  der(vx[n]) = k*(x[n-1] - x[n]) + d*(vx[n-1] - vx[n]) - lambda[n]*x[n];
  der(vy[n]) = k*(y[n-1] - y[n]) + d*(vy[n-1] - vy[n]) - lambda[n]*y[n] - g;
  annotation(experiment(StartTime = 0, StopTime = 2, Tolerance = 1e-6));
end Pendulums;
