model PeakDetector "A diode and a capacitor hold the peak of a signal"
  parameter Real Is = 1e-12, Vt = 0.0259;
  Real vin, vout(start = 0, fixed = true), i;
equation
  vin = 3*exp(-2*time)*sin(20*time) + 2*time;
  i = Is*(exp((vin - vout)/Vt) - 1);
  10e-6*der(vout) = i - vout/470e3;
  annotation(experiment(StopTime = 2));
end PeakDetector;
