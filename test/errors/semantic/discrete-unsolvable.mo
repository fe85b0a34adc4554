model M
  Integer k;
equation
  2*k = 4;
end M;
