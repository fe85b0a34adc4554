// K. E. Brenan, S. L. Campbell, L. R. Petzold, 1996, end of 6.4: one loop of a resistor, a coil
// and a capacitor whose characteristics are curves, each with its parameter.
model Unicursal "Circuit of unicursal elements, index 1"
  Real t1(start = 0.9, fixed = false) "of the resistor";
  Real t2(start = 0.25, fixed = true) "of the coil";
  Real t3(start = 2, fixed = true) "of the capacitor";
equation
  sin(t2)*der(t2) = cos(t1)^3 - cos(t3) + 1;
  (1 - cos(t3))*der(t3) = 2*sin(t2);
  sin(t1)^3 - 2*sin(t2) = 0;
  annotation(experiment(StartTime = 0, StopTime = 0.02, Tolerance = 1e-7));
end Unicursal;
