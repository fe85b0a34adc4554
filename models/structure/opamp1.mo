// K. E. Brenan, S. L. Campbell, L. R. Petzold, 1996, figure 6.4.2: v3 = -C R e'.
model OpAmp1 "Differentiator with an ideal operational amplifier, index 2"
  parameter Real w = 1 "of the given function of time";
  parameter Real C(unit = "F") = 1e-3, R(unit = "Ohm") = 1e3;
  Real v1(unit = "V") "input", v2(unit = "V") "inverting input of the amplifier";
  Real v3(unit = "V") "output";
  Real iE(unit = "A") "current of the source", iO(unit = "A") "current into the amplifier's output";
equation
  iE = C*der(v1 - v2) "node 1";
  C*der(v1 - v2) = (v2 - v3)/R "node 2";
  (v2 - v3)/R = iO "node 3";
  v1 = sin(w*time) "source";
  v2 = 0 "no voltage across the amplifier's input";
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end OpAmp1;
