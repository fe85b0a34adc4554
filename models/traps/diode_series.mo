model diode_series "A rectifier: its capacitor is charged once in a period, through a diode that has a resistor in series"
  parameter Real R = 10, C = 1e-5, load = 1e4;
  Real u(start = 0, fixed = true), v, drop, i, source;
equation
  source = 5*sin(2*3.14159265358979323846*50*time);
  v = source - u;
  v = drop + R*i;
  i = 1e-14*(exp(drop/0.025) - 1);
  C*der(u) = i - u/load;
end diode_series;
