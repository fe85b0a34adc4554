model DiodeOr "OR gate of two diodes and a pull-down resistor"
  parameter Real Is = 1e-12, Vt = 0.025;
  Real a, b "inputs";
  Real y "output";
  Boolean high;
equation
  a = if sin(3*time) > 0 then 5 else 0;
  b = if time > 2.5 then 5 else 0;
  y/10e3 = Is*(exp((a - y)/Vt) - 1) + Is*(exp((b - y)/Vt) - 1);
  high = y > 2.5;
  annotation(experiment(StopTime = 4));
end DiodeOr;
