model HalfWave "Half-wave rectifier with a resistor, diode equation of Shockley"
  parameter Real Is = 1e-12 "A, saturation current";
  parameter Real Vt = 0.026 "V, thermal voltage";
  parameter Real R = 1000 "Ohm";
  Real vs "source";
  Real vd "across the diode";
  Real i "through diode and resistor";
  Real vout;
equation
  vs = 10*sin(2*3.14159265358979*50*time);
  i = Is*(exp(vd/Vt) - 1);
  vout = R*i;
  vs = vd + vout;
  annotation(experiment(StopTime = 0.05));
end HalfWave;
