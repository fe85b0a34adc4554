model SIR "An epidemic in a town of 100 000, in days"
  parameter Real N = 1e5, beta = 0.4, gamma = 0.1;
  Real S(start = 99990, fixed = true), I(start = 10, fixed = true), R;
equation
  der(S) = -beta*S*I/N;
  der(I) = beta*S*I/N - gamma*I;
  S + I + R = N;
  annotation(experiment(StopTime = 100));
end SIR;
