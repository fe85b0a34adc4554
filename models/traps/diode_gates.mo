// Outputs of diode logic jump between three linear pieces within some thermal voltages.
model DiodeGates
  Real a, b, both, either;
equation
  a = 5*sin(time);
  b = 5*sin(1.7*time);
  (5 - both)/1e3 = 1e-14*(exp((both - a)/0.026) - 1) + 1e-14*(exp((both - b)/0.026) - 1);
  either/1e3 = 1e-14*(exp((a - either)/0.026) - 1) + 1e-14*(exp((b - either)/0.026) - 1);
  annotation(experiment(StopTime = 20));
end DiodeGates;
