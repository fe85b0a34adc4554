model SuperDiode "Precision rectifier: an amplifier of gain 100 000 hides the diode"
  parameter Real A = 1e5, Is = 1e-12, Vt = 0.026, R = 10e3;
  Real vin, va, vout;
equation
  vin = 0.2*sin(2*3.14159265358979*time);
  va = max(-10, min(10, A*(vin - vout)));
  vout/R = Is*(exp((va - vout)/Vt) - 1);
  annotation(experiment(StopTime = 2.2));
end SuperDiode;
