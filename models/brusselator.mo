model Brusselator "Reaction and diffusion on a line, m points with both ends, where the values are kept"
  constant Real pi = 2*asin(1.0);
  parameter Integer m(min = 3) = 42 "points";
  parameter Real a = 0.02 "diffusion";
  final parameter Real c = a*(m - 1)^2 "diffusion between neighbours";
  Real u[m](start = {1 + sin(2*pi*(i - 1)/(m - 1)) for i in 1:m});
  Real v[m](each start = 3);
initial equation
  for i in 2:m - 1 loop
    u[i] = 1 + sin(2*pi*(i - 1)/(m - 1));
    v[i] = 3;
  end for;
equation
  u[1] = 1;
  v[1] = 3;
  for i in 2:m - 1 loop
    der(u[i]) = 1 + u[i]^2*v[i] - 4*u[i] + c*(u[i - 1] - 2*u[i] + u[i + 1]);
    der(v[i]) = 3*u[i] - u[i]^2*v[i] + c*(v[i - 1] - 2*v[i] + v[i + 1]);
  end for;
  u[m] = 1;
  v[m] = 3;
  annotation(experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-7));
end Brusselator;
