model MichaelisMenten "Degradation of a substrate by an enzyme"
  parameter Real Vmax = 0.12 "mmol/(l min)", Km = 0.4 "mmol/l";
  Real S(start = 2, fixed = true), P;
equation
  der(S) = -Vmax*S/(Km + S);
  P = 2 - S;
  annotation(experiment(StopTime = 40));
end MichaelisMenten;
