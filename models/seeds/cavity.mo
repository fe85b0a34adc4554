// [BCP96 (6.5.3)]: M U' + (K + N(U)) U + C P = f, C' U = 0, for the flow in a square cavity whose lid
// moves with speed 1, on a staggered grid of n x n cells: central differences of the fluxes, of second
// order in h = 1/n. The sum of all divergences is zero by itself: in place of one of them the pressure
// of its cell is 0. The flow begins at rest. Large grids run much faster with --formulation index1:
// states that are chosen among the velocities fill the matrices.
model Cavity "Navier-Stokes equations in a driven cavity, by lines, index 2"
  parameter Integer n = 16 "cells along each side, even";
  parameter Real Re = 100 "Reynolds number";
  final parameter Real h = 1/n;
  Real u[n + 1, n + 2](each start = 0) "to the right, through left sides of cells; rows 0 .. n + 1";
  Real v[n + 2, n + 1](each start = 0) "upwards, through bottoms of cells; columns 0 .. n + 1";
  Real p[n, n](each start = 0) "pressure";
  Real uMiddle[n] "u on the vertical line through the middle, at y = (j - 1/2) h";
  Real vMiddle[n] "v on the horizontal line through the middle, at x = (i - 1/2) h";
initial equation
  for i in 2:n loop
    for j in 2:n loop
      u[i, j + 1] - u[i, j] = v[i + 1, j] - v[i, j] "no vorticity inside";
    end for;
  end for;
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
      der(u[i, j]) + ((u[i + 1, j] + u[i, j])^2 - (u[i, j] + u[i - 1, j])^2)/(4*h)
        + ((u[i, j + 1] + u[i, j])*(v[i, j] + v[i + 1, j])
        - (u[i, j] + u[i, j - 1])*(v[i, j - 1] + v[i + 1, j - 1]))/(4*h)
        = (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4*u[i, j])/(Re*h^2)
        - (p[i, j - 1] - p[i - 1, j - 1])/h "momentum to the right";
    end for;
  end for;
  for i in 2:n + 1 loop
    for j in 2:n loop
      der(v[i, j]) + ((v[i, j + 1] + v[i, j])^2 - (v[i, j] + v[i, j - 1])^2)/(4*h)
        + ((v[i + 1, j] + v[i, j])*(u[i, j] + u[i, j + 1])
        - (v[i, j] + v[i - 1, j])*(u[i - 1, j] + u[i - 1, j + 1]))/(4*h)
        = (v[i + 1, j] + v[i - 1, j] + v[i, j + 1] + v[i, j - 1] - 4*v[i, j])/(Re*h^2)
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
  for j in 1:n loop
    uMiddle[j] = u[div(n, 2) + 1, j + 1];
    vMiddle[j] = v[j + 1, div(n, 2) + 1];
  end for;
  annotation(experiment(StartTime = 0, StopTime = 40, Tolerance = 1e-5));
end Cavity;
