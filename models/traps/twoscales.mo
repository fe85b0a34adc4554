model TwoScales "Currents of 1e-14 beside voltages of 1e5"
  parameter Real R = 1e19, C = 1e-19;
  Real v(start = 1e5, fixed = true), i(nominal = 1e-14);
equation
  C*der(v) = -i;
  R*i = v;
end TwoScales;
