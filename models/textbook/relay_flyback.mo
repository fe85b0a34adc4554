model RelayFlyback "A relay coil is switched off; a diode takes its current over"
  parameter Real L = 0.2, R = 100, Is = 1e-10, Vt = 0.03, Roff = 1e6;
  Real i(start = 0.12, fixed = true) "coil";
  Real u "coil";
  Real id, isw;
  Boolean closed;
equation
  closed = time < 5e-3;
  L*der(i) + R*i = u;
  i = isw + id;
  isw = if closed then (12 - u)/0.1 else (12 - u)/Roff;
  id = Is*(exp(-u/Vt) - 1);
  annotation(experiment(StopTime = 0.02));
end RelayFlyback;
