model Circuit "n stages of inductor, resistor, diode to ground and capacitor, fed by an alternating voltage"
  parameter Integer n = 100 "stages; four equations each";
  parameter Real R = 0.1;
  parameter Real L = 1e-3;
  parameter Real C = 1e-2;
  parameter Real Is = 1e-6 "saturation current of the diodes";
  parameter Real Ut = 0.05 "thermal voltage, ideality included";
  Real v[n](each start = 0, each fixed = true) "capacitors";
  Real j[n](each start = 0, each fixed = true) "inductors";
  Real u[n] "between inductor and resistor";
  Real d[n] "through diodes";
  Real e "source";
equation
  e = sin(6*time);
  for k in 1:n loop
    L*der(j[k]) = (if k == 1 then e else v[k - 1]) - u[k];
    u[k] = v[k] + R*j[k];
    d[k] = Is*(exp(v[k]/Ut) - 1);
    C*der(v[k]) = j[k] - d[k] - (if k == n then v[k] else j[k + 1]);
  end for;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-5));
end Circuit;
