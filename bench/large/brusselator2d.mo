model Brusselator2D "Brusselator with diffusion on a square, no flux over its border; two species a point"
  constant Real pi = 2*asin(1.0);
  parameter Integer n = 10 "points a side";
  parameter Real A = 3.4 "sum of the rates of decay";
  parameter Real B = 1;
  parameter Real alpha = 0.002 "diffusion";
  final parameter Real h = 1/(n - 1) "distance of points";
  final parameter Real d = alpha/h^2;
  Real u[n, n](start = {{22*((j - 1)*h)*(1 - (j - 1)*h)^1.5 for j in 1:n} for i in 1:n}, each fixed = true);
  Real v[n, n](start = {{27*((i - 1)*h)*(1 - (i - 1)*h)^1.5 for j in 1:n} for i in 1:n}, each fixed = true);
equation
  for i in 1:n loop
    for j in 1:n loop
      der(u[i, j]) = B + u[i, j]^2*v[i, j] - (A + 1)*u[i, j] + d*(u[if i > 1 then i - 1 else 2, j] + u[if i < n then i + 1 else n - 1, j]
        + u[i, if j > 1 then j - 1 else 2] + u[i, if j < n then j + 1 else n - 1] - 4*u[i, j]);
      der(v[i, j]) = A*u[i, j] - u[i, j]^2*v[i, j] + d*(v[if i > 1 then i - 1 else 2, j] + v[if i < n then i + 1 else n - 1, j]
        + v[i, if j > 1 then j - 1 else 2] + v[i, if j < n then j + 1 else n - 1] - 4*v[i, j]);
    end for;
  end for;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-5));
end Brusselator2D;
