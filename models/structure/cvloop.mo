// S. Baese, Half-explicit Runge-Kutta methods for overdetermined semi-implicit DAEs, 2017, example
// 2.7; after S. Baechle, thesis, TU Berlin, 2007. Its hidden constraint is
//     2 e1 + 2 iV + e2 + 100 cos(100 t) = 0.
model CVLoop "Linear circuit with a loop of capacitors and a voltage source, index 2"
  Real q1(start = 0) "charges";
  Real q2(start = 0, fixed = true);
  Real e1(start = 0) "potentials";
  Real e2(start = 0);
  Real iV(start = -50) "current through the source";
equation
  der(q1) + e1 + iV = 0;
  der(q2) - der(q1) + e2 = 0;
  e1 - sin(100*time) = 0;
  q1 - e1 + e2 = 0;
  q2 - e2 = 0;
  annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-7));
end CVLoop;
