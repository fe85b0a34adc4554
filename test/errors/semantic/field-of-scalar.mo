model M
  Real x = 1;
  Real y = x.a;
end M;
