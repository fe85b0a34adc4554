// (3.1.13) of Brenan, Campbell and Petzold: index 2; implicit Euler is unstable on it for eta < -1/2.
// Exact: x1 = g + eta t g', x2 = -g', g = sin t.
model Eta
  parameter Real eta = -0.4;
  Real x1(start = 0), x2(start = -1);
equation
  x1 + eta * time * x2 = sin(time);
  der(x1) + eta * time * der(x2) + (1 + eta) * x2 = 0;
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end Eta;
