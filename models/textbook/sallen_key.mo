model SallenKey "Low-pass filter of Sallen and Key"
  parameter Real R1 = 10e3, R2 = 10e3, C1 = 22e-9, C2 = 10e-9;
  Real vin, va, vp, vout;
  Real u1(start = 0, fixed = true), u2(start = 0, fixed = true) "across the capacitors";
equation
  vin = if time < 1e-3 then 1 else -1;
  u1 = va - vout;
  u2 = vp;
  vout = vp;
  (vin - va)/R1 = (va - vp)/R2 + C1*der(u1);
  (va - vp)/R2 = C2*der(u2);
  annotation(experiment(StopTime = 2.5e-3));
end SallenKey;
