model M
  Boolean b = 1 < true;
  Boolean c = not 3;
  Boolean d = true and 1;
end M;
