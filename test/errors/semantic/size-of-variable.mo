model M
  Integer k = integer(time);
  Real x[k];
end M;
