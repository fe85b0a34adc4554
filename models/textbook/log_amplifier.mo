model LogAmplifier "Logarithmic amplifier: a diode in the feedback of an ideal amplifier"
  parameter Real Is = 1e-13, Vt = 0.026, R = 10e3;
  Real vin, vout, i;
equation
  vin = 0.001*exp(time);
  i = vin/R;
  i = Is*(exp(-vout/Vt) - 1);
  annotation(experiment(StopTime = 9));
end LogAmplifier;
