model Buck "Step-down converter: a switch at 20 kHz, a diode that takes over"
  parameter Real Vin = 24, L = 220e-6, C = 47e-6, R = 5;
  parameter Real T = 50e-6 "period", D = 0.5 "duty cycle";
  Real iL(start = 0, fixed = true), vC(start = 0, fixed = true);
  Real vx "at the switch";
  Boolean on;
equation
  on = mod(time, T) < D*T;
  vx = if on then Vin else -0.7 "forward voltage of the diode";
  L*der(iL) = vx - vC;
  C*der(vC) = iL - vC/R;
  annotation(experiment(StopTime = 1.01e-3));
end Buck;
