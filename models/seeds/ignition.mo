// [BCP96 (6.5.1)]: a gas of one component in a closed cylinder, heated near its axis until tq, over the
// mass psi between the axis and a point. As R. J. Kee and L. R. Petzold: forward differences for the
// pressure, backward ones for the radius, central ones for the energy; walls as algebraic equations.
model Ignition "Combustion ignition by lines in a Lagrangian coordinate, index 1"
  parameter Integer N = 100 "cells";
  parameter Real cp = 3.5, W = 1, R = 1, lambda = 0.05 "of the gas";
  parameter Real Tw = 1, p0 = 1, radius = 1 "walls, pressure at the start, vessel";
  parameter Real q0 = 20, tq = 0.02, psiq = 1/12 "heat source, its end and its reach";
  final parameter Real rho0 = p0*W/(R*Tw), psiR = rho0*radius^2/2, d = psiR/N;
  Real T[N + 1](each start = Tw) "temperature";
  Real p[N + 1](each start = p0) "pressure";
  Real rho[N + 1](each start = rho0) "density";
  Real r[N + 1](start = {radius*sqrt((j - 1)/N) for j in 1:N + 1}) "radius";
  Real flux[N] "rho r^2 lambda dT/dpsi between points";
initial equation
  for j in 1:N loop
    T[j] = Tw;
  end for;
equation
  for j in 1:N + 1 loop
    p[j] = rho[j]*R*T[j]/W "equation of state";
  end for;
  for j in 1:N loop
    p[j + 1] - p[j] = 0 "uniform pressure";
    (r[j + 1]^2 - r[j]^2)/2 = d/rho[j + 1] "radius";
    flux[j] = (rho[j] + rho[j + 1])/2*((r[j] + r[j + 1])/2)^2*lambda*(T[j + 1] - T[j])/d;
    der(T[j]) - der(p[j])/(rho[j]*cp) = (flux[j] - (if j == 1 then 0 else flux[max(j - 1, 1)]))/(cp*d)
      + (if time < tq then q0*exp(-((j - 1)*d/psiq)^2)/cp else 0) "energy";
  end for;
  r[1] = 0;
  r[N + 1] = radius;
  T[N + 1] = Tw;
  annotation(experiment(StartTime = 0, StopTime = 0.1, Tolerance = 1e-7));
end Ignition;
