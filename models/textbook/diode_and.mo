model DiodeAnd "AND gate of two diodes and a pull-up resistor"
  parameter Real Is = 1e-12, Vt = 0.025, R = 4.7e3;
  Real a, b, y;
equation
  a = 5*(0.5 + 0.5*sin(time));
  b = if time > 3 then 5 else 0.2;
  (5 - y)/R = Is*(exp((y - a)/Vt) - 1) + Is*(exp((y - b)/Vt) - 1);
  annotation(experiment(StopTime = 8));
end DiodeAnd;
