model Repeated "a law is written twice, its sides the other way round"
  parameter Real R = 1, L = 1, C = 1;
  Real i(start = 0, fixed = true), u(start = 1, fixed = true), vr, vl;
equation
  vr = R*i;
  vl = L*der(i);
  C*der(u) = -i;
  u = vr + vl;
  i*R = vr;
end Repeated;
