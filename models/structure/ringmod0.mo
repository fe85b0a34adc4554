// Test Set for IVP Solvers (F. Mazzia and C. Magherini), problem RINGMOD, without the parasitic
// capacitances, Cs = 0. The diode currents cancel from I3 + I4 + I5 + I6 = 0: index 2, ten states.
// The structure sees eleven states and index 1.
model RingModulator0 "Ring modulator without parasitic capacitances, index 2"
  constant Real pi = 2*asin(1.0);
  parameter Real C = 1.6e-8, Cp = 1e-8, Lh = 4.45, Ls1 = 2e-3, Ls2 = 5e-4, Ls3 = 5e-4;
  parameter Real gamma = 40.67286402e-9 "saturation current of the diodes";
  parameter Real delta = 17.7493332 "inverse thermal voltage of the diodes";
  parameter Real R = 25e3, Rp = 50, Rg1 = 36.3, Rg2 = 17.3, Rg3 = 17.3, Ri = 50, Rc = 600;
  Real U1(start = 0, fixed = true), U2(start = 0, fixed = true), U7(start = 0, fixed = true);
  Real U3(start = 0), U4(start = 0), U5(start = 0), U6(start = 0);
  Real I1(start = 0, fixed = true), I2(start = 0, fixed = true), I3(start = 0, fixed = true);
  Real I4(start = 0, fixed = true), I5(start = 0, fixed = true), I6(start = 0);
  Real I7(start = 0, fixed = true), I8(start = 0, fixed = true);
  Real signal, pump "voltages of the inputs";
  Real d1, d2, d3, d4 "currents of the diodes";
equation
  signal = 0.5*sin(2*pi*1e3*time);
  pump = 2*sin(2*pi*1e4*time);
  d1 = gamma*(exp(delta*(U3 - U5 - U7 - pump)) - 1);
  d2 = gamma*(exp(delta*(-U4 + U6 - U7 - pump)) - 1);
  d3 = gamma*(exp(delta*(U4 + U5 + U7 + pump)) - 1);
  d4 = gamma*(exp(delta*(-U3 - U6 + U7 + pump)) - 1);
  C*der(U1) = I1 - I3/2 + I4/2 + I7 - U1/R;
  C*der(U2) = I2 - I5/2 + I6/2 + I8 - U2/R;
  I3 - d1 + d4 = 0 "node 3";
  -I4 + d2 - d3 = 0 "node 4";
  I5 + d1 - d3 = 0 "node 5";
  -I6 - d2 + d4 = 0 "node 6";
  Cp*der(U7) = -U7/Rp + d1 + d2 - d3 - d4;
  Lh*der(I1) = -U1;
  Lh*der(I2) = -U2;
  Ls2*der(I3) = U1/2 - U3 - Rg2*I3;
  Ls3*der(I4) = -U1/2 + U4 - Rg3*I4;
  Ls2*der(I5) = U2/2 - U5 - Rg2*I5;
  Ls3*der(I6) = -U2/2 + U6 - Rg3*I6;
  Ls1*der(I7) = signal - U1 - (Ri + Rg1)*I7;
  Ls1*der(I8) = -U2 - (Rc + Rg1)*I8;
  annotation(experiment(StartTime = 0, StopTime = 1e-3, Tolerance = 1e-7));
end RingModulator0;
