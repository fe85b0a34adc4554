model M
  parameter Real p = 2;
  constant Real c = p;
  Real x = c;
end M;
