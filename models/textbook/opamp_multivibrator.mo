model Multivibrator "Relaxation oscillator: Schmitt trigger, resistor and capacitor"
  parameter Real R = 10e3, C = 100e-9;
  parameter Real Vsat = 10 "V", beta = 0.5 "of the divider";
  Real vc(start = 0, fixed = true);
  Real vout;
  Boolean high(start = true, fixed = true);
equation
  vout = if high then Vsat else -Vsat;
  R*C*der(vc) = vout - vc;
  when vc > beta*Vsat then
    high = false;
  elsewhen vc < -beta*Vsat then
    high = true;
  end when;
  annotation(experiment(StopTime = 0.01));
end Multivibrator;
