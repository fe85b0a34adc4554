model Heat2D "Heat equation on a square, n x n points with the boundary, kept cold there"
  function hill "three sine waves: the start, made of eigenvectors of the five-point Laplacian"
    input Real x "from 0 to 1";
    input Real y "from 0 to 1";
    output Real u(unit = "K");
  protected
    constant Real pi = 2*asin(1.0);
    constant Real height[3](each unit = "K") = {1, 0.5, 0.25};
    constant Integer p[3] = {1, 2, 7} "half waves along x";
    constant Integer q[3] = {1, 3, 5} "half waves along y";
  algorithm
    u := 0;
    for k in 1:3 loop
      u := u + height[k]*sin(p[k]*pi*x)*sin(q[k]*pi*y);
    end for;
  end hill;

  parameter Integer n(min = 3) = 10 "points a side, boundary included";
  parameter Real L(unit = "m") = 1 "side";
  parameter Real a(unit = "m2/s") = 1 "thermal diffusivity";
  final parameter Real h(unit = "m") = L/(n - 1) "distance of points";
  Real u[n, n](each unit = "K") "temperature above that of the boundary";
initial equation
  for i in 2:n - 1, j in 2:n - 1 loop
    u[i, j] = hill((i - 1)/(n - 1), (j - 1)/(n - 1));
  end for;
equation
  u[1, :] = zeros(n) "left edge";
  u[n, :] = zeros(n) "right edge";
  u[2:n - 1, 1] = zeros(n - 2) "lower edge";
  u[2:n - 1, n] = zeros(n - 2) "upper edge";
  for i in 2:n - 1, j in 2:n - 1 loop
    der(u[i, j]) = a/h^2*(u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4*u[i, j]);
  end for;
  annotation(experiment(StartTime = 0, StopTime = 0.1, Tolerance = 1e-7));
end Heat2D;
