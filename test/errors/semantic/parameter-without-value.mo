model M
  parameter Real p;
  parameter Real q(start = 2);
  Real x = p + q;
  Real y = missing;
end M;
