model StatelessDerivative "no states: b is a derivative of what the time gives"
  Real a, b, c;
equation
  a + b = sin(time);
  a - b = der(c);
  c = cos(time) + 0*a;
  annotation(experiment(StopTime = 1));
end StatelessDerivative;
