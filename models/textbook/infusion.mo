model Infusion "Two compartments and an infusion that stops after an hour"
  parameter Real k10 = 0.4, k12 = 0.9, k21 = 0.5 "1/h", V1 = 12 "l";
  Real A1(start = 0, fixed = true) "mg", A2(start = 0, fixed = true), c;
equation
  der(A1) = (if time < 1 then 100 else 0) - (k10 + k12)*A1 + k21*A2;
  der(A2) = k12*A1 - k21*A2;
  c = A1/V1;
  annotation(experiment(StopTime = 12));
end Infusion;
