model WienBridge "Wien bridge oscillator; a soft limiter holds the amplitude"
  parameter Real R = 16e3, C = 10e-9;
  Real v1(start = 0.01, fixed = true) "across the parallel RC";
  Real v2(start = 0, fixed = true) "across the series capacitor";
  Real vo, i;
equation
  vo = 4*tanh(3.2*v1/4);
  vo = v1 + v2 + R*i;
  C*der(v2) = i;
  C*der(v1) = i - v1/R;
  annotation(experiment(StopTime = 0.01));
end WienBridge;
