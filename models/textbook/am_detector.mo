model AMDetector "Crystal radio: a diode and a capacitor bring the tone back from its carrier"
  parameter Real Is = 1e-7, Vt = 0.026, R = 10e3, C = 2e-9, Rs = 500;
  Real u, v(start = 0, fixed = true), i, vd;
equation
  u = 1.5*(1 + 0.6*sin(2*3.14159265358979*2e3*time))*sin(2*3.14159265358979*200e3*time);
  u = Rs*i + vd + v;
  i = Is*(exp(vd/Vt) - 1);
  C*der(v) = i - v/R;
  annotation(experiment(StopTime = 2e-4));
end AMDetector;
