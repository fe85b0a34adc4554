model Chemostat "Bacteria in a chemostat (Monod)"
  parameter Real mumax = 0.5 "1/h", Ks = 0.2 "g/l", Y = 0.4, D = 0.3 "1/h", Sf = 10;
  Real X(start = 0.05, fixed = true) "g/l", S(start = 10, fixed = true), mu;
equation
  mu = mumax*S/(Ks + S);
  der(X) = (mu - D)*X;
  der(S) = D*(Sf - S) - mu*X/Y;
  annotation(experiment(StopTime = 40));
end Chemostat;
