model Kettle "A kettle boils, lets off steam, and switches off"
  parameter Real P = 2000, cp = 4186, L = 2.257e6;
  Real m(start = 1, fixed = true), T(start = 15, fixed = true), steam "kg/s";
  discrete Real tBoil(start = 0, fixed = true);
  Boolean boiling(start = false, fixed = true), on(start = true, fixed = true);
equation
  when T >= 100 then
    boiling = true;
    tBoil = time;
  end when;
  when boiling and time > tBoil + 30 then
    on = false;
  end when;
  steam = if boiling and on then (P - 2.5*(T - 20))/L else 0;
  der(m) = -steam;
  m*cp*der(T) = (if on then P else 0) - 2.5*(T - 20) - steam*L;
  annotation(experiment(StopTime = 500));
end Kettle;
