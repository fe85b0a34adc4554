// Half-wave rectifier with 1e-14 A of saturation current, resistive: the conductance of the diode
// goes from 1e-13 to 1 and back and is never zero.
model Blocking "A diode at 1e-14 A is no loss of rank"
  parameter Real Is = 1e-14, Vt = 0.02585, R = 100, C = 1e-5, RL = 1000;
  Real e, u(start = 0, fixed = true), i;
equation
  e = 5*sin(6283.185307179586*time) - R*i;
  i = Is*(exp((e - u)/Vt) - 1);
  C*der(u) = i - u/RL;
  annotation(experiment(StopTime = 0.003));
end Blocking;
