// K. E. Brenan, S. L. Campbell, L. R. Petzold, 1996, (6.5.3): M U' + (K + N(U)) U + C P = f,
// C' U = 0, here on a staggered grid of n x n cells in a cavity whose lid moves. The sum of all
// divergences is zero by itself; the equation of one cell is replaced by a level of the pressure.
model NavierStokes "Incompressible flow in a cavity, by lines, index 2"
  parameter Integer n = 3 "cells along each side";
  parameter Real nu = 0.1 "viscosity";
  final parameter Real h = 1/n;
  Real u[n + 1, n + 2] "velocity to the right through the left sides of cells; rows j = 0 .. n + 1";
  Real v[n + 2, n + 1] "velocity upwards through the bottoms of cells; columns i = 0 .. n + 1";
  Real p[n, n] "pressure";
initial equation
  u[2, 2] = 0.1 "what the incompressible field leaves free";
  u[2, 3] = 0;
  u[3, 2] = 0;
  u[3, 3] = -0.1;
equation
  for j in 1:n + 2 loop
    u[1, j] = 0 "left wall";
    u[n + 1, j] = 0 "right wall";
  end for;
  for i in 2:n loop
    u[i, 1] + u[i, 2] = 0 "floor";
    u[i, n + 1] + u[i, n + 2] = 2 "lid";
  end for;
  for i in 1:n + 2 loop
    v[i, 1] = 0;
    v[i, n + 1] = 0;
  end for;
  for j in 2:n loop
    v[1, j] + v[2, j] = 0;
    v[n + 1, j] + v[n + 2, j] = 0;
  end for;
  for i in 2:n loop
    for j in 2:n + 1 loop
      der(u[i, j]) + u[i, j]*(u[i + 1, j] - u[i - 1, j])/(2*h)
        + (v[i, j - 1] + v[i + 1, j - 1] + v[i, j] + v[i + 1, j])/4
        *(u[i, j + 1] - u[i, j - 1])/(2*h)
        = nu*(u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4*u[i, j])/h^2
        - (p[i, j - 1] - p[i - 1, j - 1])/h "momentum to the right";
    end for;
  end for;
  for i in 2:n + 1 loop
    for j in 2:n loop
      der(v[i, j]) + v[i, j]*(v[i, j + 1] - v[i, j - 1])/(2*h)
        + (u[i - 1, j] + u[i, j] + u[i - 1, j + 1] + u[i, j + 1])/4
        *(v[i + 1, j] - v[i - 1, j])/(2*h)
        = nu*(v[i + 1, j] + v[i - 1, j] + v[i, j + 1] + v[i, j - 1] - 4*v[i, j])/h^2
        - (p[i - 1, j] - p[i - 1, j - 1])/h "momentum upwards";
    end for;
  end for;
  for i in 1:n loop
    for j in 1:n loop
      if i == 1 and j == 1 then
        p[i, j] = 0 "level of the pressure";
      else
        (u[i + 1, j + 1] - u[i, j + 1])/h + (v[i + 1, j + 1] - v[i + 1, j])/h = 0 "divergence";
      end if;
    end for;
  end for;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end NavierStokes;
