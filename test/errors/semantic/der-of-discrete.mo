model M
  Integer k = 1;
  Real x = der(k);
end M;
