model DissolvingTablet "A tablet dissolves until nothing is left"
  parameter Real k = 0.02 "mg^(1/3)/s";
  Real m(start = 500, fixed = true) "mg", c "mg/l";
equation
  der(m) = if m > 0 then -k*m^(2/3) else 0;
  c = (500 - m)/0.25;
  annotation(experiment(StopTime = 1500));
end DissolvingTablet;
