model HeatZones "Heat equation on a square of ten stripes, each with a conductivity of its own"
  constant Real pi = 2*asin(1.0);
  parameter Integer w(min = 1) = 2 "columns of a stripe";
  final parameter Integer n = 10*w + 2 "points a side, boundary included";
  parameter Real k[10] = {1, 0.9, 1.1, 1.2, 0.8, 1, 1.3, 0.7, 1, 1.1} "conductivities";
  final parameter Real h = 1/(n - 1) "distance of points";
  Real u[n, n] "temperature above that of the boundary";
initial equation
  for i in 2:n - 1, j in 2:n - 1 loop
    u[i, j] = sin(pi*(i - 1)*h)*sin(pi*(j - 1)*h) + 0.5*sin(2*pi*(i - 1)*h)*sin(3*pi*(j - 1)*h);
  end for;
equation
  u[1, :] = zeros(n) "left edge";
  u[n, :] = zeros(n) "right edge";
  u[2:n - 1, 1] = zeros(n - 2) "lower edge";
  u[2:n - 1, n] = zeros(n - 2) "upper edge";
  for z in 1:10, c in 1:w - 1, j in 2:n - 1 loop
    h^2*der(u[(z - 1)*w + c + 1, j]) = k[z]*(u[(z - 1)*w + c, j] + u[(z - 1)*w + c + 2, j]
      + u[(z - 1)*w + c + 1, j - 1] + u[(z - 1)*w + c + 1, j + 1] - 4*u[(z - 1)*w + c + 1, j]);
  end for;
  for z in 1:9, j in 2:n - 1 loop
    h^2*der(u[z*w + 1, j]) = k[z]*(u[z*w, j] + u[z*w + 1, j - 1] + u[z*w + 1, j + 1] - 3*u[z*w + 1, j])
      + k[z + 1]*(u[z*w + 2, j] - u[z*w + 1, j]) "the last column of a stripe";
  end for;
  for j in 2:n - 1 loop
    h^2*der(u[n - 1, j]) = k[10]*(u[n - 2, j] + u[n, j] + u[n - 1, j - 1] + u[n - 1, j + 1] - 4*u[n - 1, j]);
  end for;
  annotation(experiment(StartTime = 0, StopTime = 0.05, Tolerance = 1e-6));
end HeatZones;
