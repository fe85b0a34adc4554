model Heat1D "Heat equation on a rod, kept at 0 at its ends; space discretised by central differences"
  constant Real pi = 2*asin(1.0);
  parameter Integer n = 100 "inner points";
  final parameter Real h = 1/(n + 1) "distance of points";
  Real u[n](start = {sin(pi*i*h) + sin(3*pi*i*h)/2 for i in 1:n}, each fixed = true) "temperature";
equation
  der(u[1]) = (u[2] - 2*u[1])/h^2;
  for i in 2:n - 1 loop
    der(u[i]) = (u[i + 1] - 2*u[i] + u[i - 1])/h^2;
  end for;
  der(u[n]) = (u[n - 1] - 2*u[n])/h^2;
  annotation(experiment(StartTime = 0, StopTime = 0.1, Tolerance = 1e-5));
end Heat1D;
