// The heat equation by lines, section 1.3.4 of Brenan, Campbell and Petzold, with its boundary values
// as equations. y = sin(pi x) decays as exp(-4/dx^2 sin(pi dx/2)^2 t) on the grid.
model Heat
  parameter Integer N = 21;
  parameter Real dx = 1 / (N - 1), pi = 3.14159265358979323846;
  Real y[N](start = {sin(pi * (j - 1) * dx) for j in 1:N});
initial equation
  for j in 2:N-1 loop
    y[j] = sin(pi * (j - 1) * dx);
  end for;
equation
  y[1] = 0;
  for j in 2:N-1 loop
    der(y[j]) = (y[j - 1] - 2 * y[j] + y[j + 1]) / dx^2;
  end for;
  y[N] = 0;
  annotation(experiment(StopTime = 0.1));
end Heat;
