model PushPull "Class B amplifier: crossover distortion of two transistors"
  parameter Real Is = 1e-13, Vt = 0.026, beta = 50, Rg = 1000, RL = 100;
  Real vin, vb, vout, ib1, ib2, lost;
equation
  vin = 2*sin(2*3.14159265358979*time);
  vin - vb = Rg*(ib1 - ib2);
  ib1 = Is*(exp((vb - vout)/Vt) - 1)/beta;
  ib2 = Is*(exp((vout - vb)/Vt) - 1)/beta;
  vout = RL*(beta + 1)*(ib1 - ib2);
  lost = vin - vout;
  annotation(experiment(StopTime = 1.24));
end PushPull;
