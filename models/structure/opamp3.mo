// K. E. Brenan, S. L. Campbell, L. R. Petzold, 1996, figure 6.4.3: three differentiators in a row,
// v[3] = -C3 R3 C2 R2 C1 R1 e'''.
model OpAmp3 "Three differentiators with ideal operational amplifiers, index 4"
  parameter Real w = 1 "of the given function of time";
  parameter Real C[3](each unit = "F") = {1e-3, 2e-3, 3e-3};
  parameter Real R[3](each unit = "Ohm") = {1e3, 5e2, 5e2};
  Real e(unit = "V") "input";
  Real m[3](each unit = "V") "inverting inputs";
  Real v[3](each unit = "V") "outputs";
  Real iE(unit = "A") "current of the source";
  Real iO[3](each unit = "A") "currents into the outputs";
equation
  e = sin(w*time) "source";
  iE = C[1]*der(e - m[1]);
  C[1]*der(e - m[1]) = (m[1] - v[1])/R[1] "node of input 1";
  C[2]*der(v[1] - m[2]) = (m[2] - v[2])/R[2] "node of input 2";
  C[3]*der(v[2] - m[3]) = (m[3] - v[3])/R[3] "node of input 3";
  (m[1] - v[1])/R[1] = iO[1] + C[2]*der(v[1] - m[2]) "node of output 1";
  (m[2] - v[2])/R[2] = iO[2] + C[3]*der(v[2] - m[3]) "node of output 2";
  (m[3] - v[3])/R[3] = iO[3] "node of output 3";
  for k in 1:3 loop
    m[k] = 0;
  end for;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end OpAmp3;
