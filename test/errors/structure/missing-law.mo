model MissingLaw "a bridge; the law of the third resistor is missing"
  parameter Real R1 = 100, R2 = 200, R3 = 300, R4 = 400, V = 10, C = 1e-6;
  Real v1, v2, vc(start = 0, fixed = true);
  Real i1, i2, i3, i4, ic;
equation
  i1 = (V - v1)/R1;
  i2 = v1/R2;
  i4 = v2/R4;
  vc = v1 - v2;
  ic = C*der(vc);
  i1 = i2 + ic;
  i3 + ic = i4;
end MissingLaw;
