model M
  Real x = sum(i for i in 1:100000000);
end M;
