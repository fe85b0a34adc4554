model Pendulums "Pendulums side by side, neighbours coupled by springs, in Cartesian coordinates: index 3"
  constant Real pi = 2*asin(1.0);
  parameter Integer n = 10 "pendulums";
  parameter Real k = 5 "stiffness";
  parameter Real g = 9.81 "gravity";
  Real x[n](start = {sin(0.5*sin(6*pi*i/100)) for i in 1:n}) "from the own pivot";
  Real y[n](start = {-cos(0.5*sin(6*pi*i/100)) for i in 1:n});
  Real vx[n](each start = 0);
  Real vy[n](each start = 0);
  Real lambda[n] "force in the rod per length";
equation
  for i in 1:n loop
    der(x[i]) = vx[i];
    der(y[i]) = vy[i];
    der(vx[i]) = k*((if i > 1 then x[i - 1] - x[i] else 0) + (if i < n then x[i + 1] - x[i] else 0)) - lambda[i]*x[i];
    der(vy[i]) = k*((if i > 1 then y[i - 1] - y[i] else 0) + (if i < n then y[i + 1] - y[i] else 0)) - lambda[i]*y[i] - g;
    x[i]^2 + y[i]^2 = 1 "rod";
  end for;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-5));
end Pendulums;
