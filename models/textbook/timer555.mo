model Timer555 "The timer 555 as an astable multivibrator"
  parameter Real Vcc = 9, RA = 4.7e3, RB = 10e3, C = 100e-9;
  Real vc(start = 0, fixed = true);
  Boolean discharge;
  discrete Integer pulses(start = 0, fixed = true);
initial equation
  pre(discharge) = false;
equation
  discharge = if pre(discharge) then vc > Vcc/3 else vc >= 2/3*Vcc;
  C*der(vc) = if discharge then -vc/RB else (Vcc - vc)/(RA + RB);
  when discharge then
    pulses = pre(pulses) + 1;
  end when;
  annotation(experiment(StopTime = 0.01));
end Timer555;
