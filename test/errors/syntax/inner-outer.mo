model M
  inner Real g = 9.81;
  outer Real h;
  flow Real i;
  stream Real s;
  Real x;
equation
  x = 1;
end M;
