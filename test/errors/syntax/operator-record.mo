operator record Complex
  Real re, im;
end Complex;
model M
  Real x = 1;
end M;
