model EnzymeMechanism "Enzyme, substrate and complex without any approximation (stiff)"
  parameter Real kf = 1e4, kr = 50, kcat = 20;
  Real E, S(start = 1, fixed = true), ES(start = 0, fixed = true), P(start = 0, fixed = true);
  parameter Real E0 = 1e-3;
equation
  E + ES = E0;
  der(S) = -kf*E*S + kr*ES;
  der(ES) = kf*E*S - (kr + kcat)*ES;
  der(P) = kcat*ES;
  annotation(experiment(StopTime = 100));
end EnzymeMechanism;
