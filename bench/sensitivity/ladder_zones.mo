model LadderZones "Resistor-capacitor line of zones, fed by an alternating voltage, open at its end"
  constant Real pi = 2*asin(1.0);
  parameter Integer zones(min = 2) = 1000;
  parameter Integer w(min = 2) = 10 "cells of a zone";
  final parameter Integer n = zones*w "cells";
  parameter Real g[zones] = fill(1.0, zones) "conductances of cells, times n";
  Real e "source";
  Real i "current out of the source";
  Real v[n](each start = 0, each fixed = true) "voltages of the capacitors";
equation
  e = sin(4*pi*time);
  i = n*g[1]*(e - v[1]);
  der(v[1])/n = i - n*g[1]*(v[1] - v[2]);
  for c in 2:w - 1 loop
    der(v[c])/n = n*g[1]*(v[c - 1] - 2*v[c] + v[c + 1]);
  end for;
  for z in 2:zones, c in 1:w - 1 loop
    der(v[(z - 1)*w + c])/n = n*g[z]*(v[(z - 1)*w + c - 1] - 2*v[(z - 1)*w + c] + v[(z - 1)*w + c + 1]);
  end for;
  for z in 1:zones - 1 loop
    der(v[z*w])/n = n*g[z]*(v[z*w - 1] - v[z*w]) - n*g[z + 1]*(v[z*w] - v[z*w + 1]) "the last cell of a zone";
  end for;
  der(v[n])/n = n*g[zones]*(v[n - 1] - v[n]);
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-6));
end LadderZones;
