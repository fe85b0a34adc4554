model Doubler "Greinacher voltage doubler"
  parameter Real C1 = 10e-6, C2 = 10e-6, RL = 20e3;
  parameter Real Is = 1e-9, Vt = 0.045;
  Real v1(start = 0, fixed = true) "across C1";
  Real v2(start = 0, fixed = true) "output";
  Real vx "between the diodes";
  Real i1, id1, id2;
equation
  10*sin(2*3.14159265358979*50*time) = 10*i1 + v1 + vx "10 Ohm in the source";
  C1*der(v1) = i1;
  id1 = Is*(exp(-vx/Vt) - 1);
  id2 = Is*(exp((vx - v2)/Vt) - 1);
  i1 + id1 = id2;
  C2*der(v2) = id2 - v2/RL;
  annotation(experiment(StopTime = 0.1));
end Doubler;
