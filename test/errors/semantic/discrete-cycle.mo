model M
  Integer i;
  Integer j;
equation
  i = j + 1;
  j = 2*i;
end M;
