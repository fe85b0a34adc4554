model M
  Integer i;
algorithm
  i++;
  i += 1;
  i--;
  ++i;
end M;
