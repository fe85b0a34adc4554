function emitterCurrent "current from base to emitter of an idealised transistor"
  input Real u(unit = "V") "base-emitter voltage";
  input Real leak(unit = "A") "saturation current";
  input Real thermal(unit = "V") "thermal voltage";
  output Real i(unit = "A");
algorithm
  i := leak*(exp(u/thermal) - 1);
end emitterCurrent;

model TransistorAmplifier "Two-stage amplifier by its node potentials: C U' = f(t, U), C singular"
  constant Real pi = 2*asin(1.0);
  parameter Real Ub(unit = "V") = 6 "supply";
  parameter Real amplitude(unit = "V") = 0.1 "of the input signal";
  parameter Real frequency(unit = "Hz") = 100 "of the input signal";
  parameter Real UF(unit = "V") = 0.026 "thermal voltage";
  parameter Real beta(unit = "A") = 1e-6 "saturation current";
  parameter Real alpha(unit = "1") = 0.99 "current gain, collector to emitter";
  parameter Real R0(unit = "Ohm") = 1000 "of the source";
  parameter Real R[9](each unit = "Ohm") = fill(9000.0, 9);
  parameter Real C[5](each unit = "F") = {1e-6, 2e-6, 3e-6, 4e-6, 5e-6};
  Real U[8](each unit = "V", start = {0, Ub/2, Ub/2, Ub, Ub/2, Ub/2, Ub, 0}) "node potentials";
  Real i[2](each unit = "A") "emitter currents";
initial equation
  U[1] - U[2] = -Ub/2 "coupling capacitors are charged";
  U[4] - U[5] = Ub/2;
  U[7] - U[8] = Ub;
  U[3] = Ub/2;
  U[6] = Ub/2;
equation
  i[1] = emitterCurrent(U[2] - U[3], beta, UF);
  i[2] = emitterCurrent(U[5] - U[6], beta, UF);
  C[1]*der(U[2] - U[1]) = (U[1] - amplitude*sin(2*pi*frequency*time))/R0 "node 1";
  C[1]*der(U[1] - U[2]) = U[2]/R[1] + (U[2] - Ub)/R[2] + (1 - alpha)*i[1] "base 1";
  -C[2]*der(U[3]) = U[3]/R[3] - i[1] "emitter 1";
  C[3]*der(U[5] - U[4]) = (U[4] - Ub)/R[4] + alpha*i[1] "collector 1";
  C[3]*der(U[4] - U[5]) = U[5]/R[5] + (U[5] - Ub)/R[6] + (1 - alpha)*i[2] "base 2";
  -C[4]*der(U[6]) = U[6]/R[7] - i[2] "emitter 2";
  C[5]*der(U[8] - U[7]) = (U[7] - Ub)/R[8] + alpha*i[2] "collector 2";
  C[5]*der(U[7] - U[8]) = U[8]/R[9] "load";
  annotation(experiment(StartTime = 0, StopTime = 0.2, Tolerance = 1e-7));
end TransistorAmplifier;
