model RingModulator "Four diodes mix two signals: a stiff, oscillating ODE for Cs > 0"
  function diodeCurrents "currents that four diodes in a ring feed into the nodes 3 .. 7"
    input Real U[5](each unit = "V") "node potentials";
    input Real pump(unit = "V") "second input signal";
    input Real gamma(unit = "A") "saturation current";
    input Real delta(unit = "1/V") "inverse thermal voltage";
    output Real i[5](each unit = "A");
  protected
    constant Real D[4, 5] = [1, 0, -1, 0, -1; 0, -1, 0, 1, -1; 0, 1, 1, 0, 1; -1, 0, 0, -1, 1]
      "which diode lies between which nodes";
    constant Real side[4] = {-1, -1, 1, 1} "of the pump";
    Real u(unit = "V") "across one diode";
  algorithm
    i := zeros(5);
    for k in 1:4 loop
      u := D[k, :]*U + side[k]*pump;
      i := i - D[k, :]*(gamma*(exp(delta*u) - 1));
    end for;
  end diodeCurrents;

  constant Real pi = 2*asin(1.0);
  parameter Real C(unit = "F") = 1.6e-8;
  parameter Real Cs(unit = "F") = 2e-12 "parasitic capacitance; 0 would make it a DAE of index 2";
  parameter Real Cp(unit = "F") = 1e-8;
  parameter Real Lh(unit = "H") = 4.45;
  parameter Real Ls1(unit = "H") = 2e-3;
  parameter Real Ls2(unit = "H") = 5e-4;
  parameter Real Ls3(unit = "H") = 5e-4;
  parameter Real gamma(unit = "A") = 40.67286402e-9 "saturation current of the diodes";
  parameter Real delta(unit = "1/V") = 17.7493332 "inverse thermal voltage of the diodes";
  parameter Real R(unit = "Ohm") = 25e3;
  parameter Real Rp(unit = "Ohm") = 50;
  parameter Real Rg1(unit = "Ohm") = 36.3;
  parameter Real Rg2(unit = "Ohm") = 17.3;
  parameter Real Rg3(unit = "Ohm") = 17.3;
  parameter Real Ri(unit = "Ohm") = 50;
  parameter Real Rc(unit = "Ohm") = 600;
  parameter Real signalAmplitude(unit = "V") = 0.5;
  parameter Real signalFrequency(unit = "Hz") = 1e3;
  parameter Real pumpAmplitude(unit = "V") = 2;
  parameter Real pumpFrequency(unit = "Hz") = 1e4;
  Real U[7](each unit = "V", each start = 0, each fixed = true) "node potentials";
  Real I[8](each unit = "A", each start = 0, each fixed = true, each nominal = 1e-3)
    "currents through coils";
equation
  C*der(U[1]) = I[1] - I[3]/2 + I[4]/2 + I[7] - U[1]/R;
  C*der(U[2]) = I[2] - I[5]/2 + I[6]/2 + I[8] - U[2]/R;
  {Cs, Cs, Cs, Cs, Cp} .* der(U[3:7]) = {I[3], -I[4], I[5], -I[6], -U[7]/Rp}
    + diodeCurrents(U[3:7], pumpAmplitude*sin(2*pi*pumpFrequency*time), gamma, delta);
  Lh*der(I[1]) = -U[1];
  Lh*der(I[2]) = -U[2];
  Ls2*der(I[3]) = U[1]/2 - U[3] - Rg2*I[3];
  Ls3*der(I[4]) = -U[1]/2 + U[4] - Rg3*I[4];
  Ls2*der(I[5]) = U[2]/2 - U[5] - Rg2*I[5];
  Ls3*der(I[6]) = -U[2]/2 + U[6] - Rg3*I[6];
  Ls1*der(I[7]) = signalAmplitude*sin(2*pi*signalFrequency*time) - U[1] - (Ri + Rg1)*I[7];
  Ls1*der(I[8]) = -U[2] - (Rc + Rg1)*I[8];
  annotation(experiment(StartTime = 0, StopTime = 1e-3, Tolerance = 1e-7));
end RingModulator;
