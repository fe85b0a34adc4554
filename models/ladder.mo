model Ladder "Resistor-capacitor line of n cells, fed by an alternating voltage, open at its end"
  constant Real pi = 2*asin(1.0);
  parameter Integer n(min = 2) = 100 "cells; there are n + 2 equations";
  parameter Real Rtotal(unit = "Ohm") = 1 "resistance of the whole line";
  parameter Real Ctotal(unit = "F") = 1 "capacitance of the whole line";
  parameter Real amplitude(unit = "V") = 1 "of the source";
  parameter Real frequency(unit = "Hz") = 2 "of the source";
  final parameter Real R(unit = "Ohm") = Rtotal/n "of one cell";
  final parameter Real C(unit = "F") = Ctotal/n "of one cell";
  Real e(unit = "V") "source";
  Real i(unit = "A") "current out of the source";
  Real v[n](each unit = "V", each start = 0, each fixed = true) "voltages of the capacitors";
equation
  e = amplitude*sin(2*pi*frequency*time);
  i = (e - v[1])/R;
  C*der(v[1]) = i - (v[1] - v[2])/R;
  for k in 2:n - 1 loop
    C*der(v[k]) = (v[k - 1] - v[k])/R - (v[k] - v[k + 1])/R;
  end for;
  C*der(v[n]) = (v[n - 1] - v[n])/R;
  annotation(experiment(StartTime = 0, StopTime = 1.05, Tolerance = 1e-7));
end Ladder;
