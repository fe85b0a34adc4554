model Transformer "Transformer with leakage at a sine, loaded by a resistor"
  parameter Real L[2, 2] = [0.5, 0.09; 0.09, 0.02] "H";
  parameter Real R1 = 5, R2 = 0.3, Rload = 4;
  Real i[2](each start = 0, each fixed = true), u[2], psi[2];
equation
  psi = L*i;
  u[1] = 325*sin(100*3.14159265358979*time);
  u[1] = R1*i[1] + der(psi[1]);
  u[2] = R2*i[2] + der(psi[2]);
  u[2] = -Rload*i[2];
  annotation(experiment(StopTime = 0.05));
end Transformer;
