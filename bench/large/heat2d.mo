model Heat2D "Heat equation on a square, kept at 0 on its border; space discretised by five points"
  constant Real pi = 2*asin(1.0);
  parameter Integer n = 10 "inner points a side";
  final parameter Real h = 1/(n + 1) "distance of points";
  Real u[n, n](start = {{sin(pi*i*h)*sin(pi*j*h) + sin(2*pi*i*h)*sin(3*pi*j*h)/2 for j in 1:n} for i in 1:n}, each fixed = true)
    "temperature";
equation
  for i in 1:n loop
    for j in 1:n loop
      der(u[i, j]) = ((if i > 1 then u[i - 1, j] else 0) + (if i < n then u[i + 1, j] else 0) + (if j > 1 then u[i, j - 1] else 0)
        + (if j < n then u[i, j + 1] else 0) - 4*u[i, j])/h^2;
    end for;
  end for;
  annotation(experiment(StartTime = 0, StopTime = 0.05, Tolerance = 1e-5));
end Heat2D;
