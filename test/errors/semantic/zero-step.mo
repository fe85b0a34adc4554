model M
  Real x = sum(i for i in 1:0:3);
end M;
