// [BCP96] 6.5, case 4: the reaction of flame1.mo on a mesh that does not move.
model Flame4 "Single step reaction with diffusion on a fixed mesh"
  parameter Integer N = 29 "points";
  parameter Real a = 1, delta = 30, R = 5;
  final parameter Real D = R*exp(delta)/(a*delta), h = 1/(N - 1);
  Real T[N](each start = 1) "temperature";
initial equation
  for i in 1:N - 1 loop
    T[i] = 1;
  end for;
equation
  der(T[1]) = 2*(T[2] - T[1])/h^2 + D*(1 + a - T[1])*exp(-delta/T[1]);
  for i in 2:N - 1 loop
    der(T[i]) = (T[i + 1] - 2*T[i] + T[i - 1])/h^2 + D*(1 + a - T[i])*exp(-delta/T[i]);
  end for;
  T[N] = 1;
  annotation(experiment(StartTime = 0, StopTime = 0.29, Tolerance = 1e-4));
end Flame4;
